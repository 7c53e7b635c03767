// expected: all_fields<T> is for components with fields
#include "components.h"

struct Note {
    const char* text = "";
};
SHOAL_COMPONENT(Note, text)

void use(Manager<Note>& notes) {
    query<Read<all_fields<Note>>>(notes).for_each([](const Note&) {});
}
