// The memory of tree-sitter's core, apart from that of its scanners and of the
// host's buffers: one parse has it at a time, so that all of it is given up at
// once. pool.c says how; the core is compiled to call these in place of
// malloc and its kin. What cannot be had ends the module.
#ifndef POOL_H
#define POOL_H
#include <stddef.h>

void *tree_malloc(size_t size);
void *tree_calloc(size_t count, size_t size);
void *tree_realloc(void *old, size_t size);
void tree_free(void *old);
void tree_reset(void); // gives up everything

#define ts_malloc tree_malloc
#define ts_calloc tree_calloc
#define ts_realloc tree_realloc
#define ts_free tree_free

#endif
