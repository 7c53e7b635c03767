# Tests of the tree itself rather than of a room. One kind of build says it all; sanitizers add nothing here.
if(NOT SHOAL_SANITIZE)
  add_subdirectory(structure)
endif()
