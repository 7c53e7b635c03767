// What later headers call by another name. The layout is that of the first.
#define add_observer add_reaction
#define remove_observer remove_reaction
