/* head */
#include <stdio.h>
#include "foo/bar.h"
#ifndef X_H
#define X_H
#define MAX 10
#define EMPTY
#define SQ(x) ((x)*(x))
extern int ext;
extern "C" {
int inc(void);
}
/* A foo. */
typedef struct foo { int a; struct bar *b; enum { Q, R } k; } foo_t, *pfoo;
struct fwd;
union u { int i; float f; };
enum color { RED, GREEN = 2 };
typedef int (*cb)(void *, int);
typedef unsigned long ul;
static const char *names[] = { "a", "b" };
int proto(int a, struct foo *f);
static struct foo *get(void);
int *(*fp)(int);
int (*retfp(int a))(void) { return 0; }
static inline int __attribute__((unused)) add(struct foo *f, const foo_t g, int n) {
    struct foo x = { .a = 1 };
    foo_t *y = (foo_t *)malloc(sizeof(struct foo)), z;
    f->b->cb(1, 2);
    get()->a = SQ(MAX);
    for (int i = 0; i < 3; i++) proto(i, f);
    if (a) goto out;
out:
    return x.a + (*fp)(3);
}
int kr(a, b) int a; char *b; { return a; }
EXPORT(int) exported(int x) { return x; }
MODULE_LICENSE("GPL");
static DEFINE_MUTEX(lock);
struct ops o = { .open = my_open, .release = my_release };
#endif
