// Versions of a plugin with a variable that is unique in the process, as g++ makes it of a static one in an inline
// function.

#include "shoal/plugin/shoal_abi.h"

__asm__(
    ".data\n"
    ".globl shoal_test_unique\n"
    ".type shoal_test_unique, @gnu_unique_object\n"
    ".size shoal_test_unique, 4\n"
    "shoal_test_unique:\n"
    ".long 0\n"
    ".text\n");
extern __attribute__((visibility("default"))) int shoal_test_unique;

static int load(const shoal_host* host, shoal_world* world, void** state, shoal_error* error) {
    (void)host, (void)world, (void)error;
    *state = &shoal_test_unique;
    return 1;
}

SHOAL_PLUGIN_EXPORT const shoal_plugin* shoal_plugin_entry(void) {
    static const shoal_plugin plugin = {SHOAL_PLUGIN_HEAD, "unique", "1.0", NULL, 0, 0, load, NULL};
    return &plugin;
}
