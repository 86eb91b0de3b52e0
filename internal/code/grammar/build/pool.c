// See pool.h. Pieces come in classes of size, each with a list of free ones;
// new ones are cut off blocks, which are kept from one parse to the next. What
// is larger than a quarter of a block is a block by itself and is not kept.
#include "pool.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
  BLOCK = 64 << 10,
  STEP = 16,       // sizes of small pieces, their heads included
  SMALL = 512,     // the largest of them; above, sizes double
  CLASSES = SMALL / STEP + 1 + 5,
  LARGE = CLASSES, // a block by itself
};

// A head stands before each piece, which begins at a multiple of eight bytes.
typedef struct {
  uint32_t size;  // bytes behind the head
  uint32_t class;
} head;

typedef struct block {
  struct block *next, *before; // before is for large ones only
} block;

typedef struct piece {
  struct piece *next;
} piece;

static piece *unused[CLASSES];
static block *first, *current; // blocks to cut from, and the one in use
static uint8_t *cut, *cut_end;
static block *large;

static void *must(void *p) {
  if (!p) __builtin_trap();
  return p;
}

static void *tree_large(size_t size) {
  block *b = must(malloc(sizeof(block) + sizeof(head) + size));
  b->before = NULL;
  b->next = large;
  if (large) large->before = b;
  large = b;
  head *h = (head *)(b + 1);
  h->size = (uint32_t)size;
  h->class = LARGE;
  return h + 1;
}

static __attribute__((noinline)) void *tree_cut(uint32_t class, uint32_t bytes) {
  if ((uint32_t)(cut_end - cut) < bytes) {
    block *b = current ? current->next : first;
    if (!b) {
      b = must(malloc(BLOCK));
      b->next = NULL;
      if (current) current->next = b;
      else first = b;
    }
    current = b;
    cut = (uint8_t *)(b + 1);
    cut_end = (uint8_t *)b + BLOCK;
  }
  head *h = (head *)cut;
  cut += bytes;
  h->size = bytes - sizeof(head);
  h->class = class;
  return h + 1;
}

void *tree_malloc(size_t size) {
  uint32_t class, bytes;
  if (size <= SMALL - sizeof(head)) {
    class = (uint32_t)(size + sizeof(head) + STEP - 1) / STEP;
    bytes = class * STEP;
  } else if (size <= BLOCK / 4 - sizeof(head)) {
    class = SMALL / STEP + 1;
    for (bytes = SMALL * 2; bytes < size + sizeof(head); bytes *= 2) class++;
  } else {
    return tree_large(size);
  }
  piece *p = unused[class];
  if (p) {
    unused[class] = p->next;
    return p;
  }
  return tree_cut(class, bytes);
}

void *tree_calloc(size_t count, size_t size) {
  if (size && count > SIZE_MAX / 2 / size) __builtin_trap();
  return memset(tree_malloc(count * size), 0, count * size);
}

void tree_free(void *old) {
  if (!old) return;
  head *h = (head *)old - 1;
  if (h->class == LARGE) {
    block *b = (block *)h - 1;
    if (b->next) b->next->before = b->before;
    if (b->before) b->before->next = b->next;
    else large = b->next;
    free(b);
    return;
  }
  piece *p = old;
  p->next = unused[h->class];
  unused[h->class] = p;
}

void *tree_realloc(void *old, size_t size) {
  if (!old) return tree_malloc(size);
  head *h = (head *)old - 1;
  if (size <= h->size) return old;
  void *new = tree_malloc(size);
  memcpy(new, old, h->size);
  tree_free(old);
  return new;
}

void tree_reset(void) {
  while (large) {
    block *b = large;
    large = b->next;
    free(b);
  }
  memset(unused, 0, sizeof unused);
  current = NULL;
  cut = cut_end = NULL;
}
