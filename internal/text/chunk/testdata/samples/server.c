/* server.c -- copyright someone */

#include <stdio.h>
#include <stdlib.h>

#define MAX(a, b) \
	((a) > (b) ? (a) : (b))
#define LIMIT 10

struct node;

/* A node of the list. It owns its value. */
struct node {
	struct node *next;
	char *value;
};

typedef struct {
	int a;
} pair_t;

typedef int (*callback)(void *);

enum color { RED, GREEN };

static int counter = 0;

static const char *names[] = {
	"a",
	"b",
};

int prototype(int a);

#ifdef HAVE_X
/* Adds. */
static int add(int a, int b)
{
	int c = a + b;
out:
	if (c) {
		return c;
	}
#if 0
	return 0;
#endif
	return c;
}
#endif

static struct node *
find_node(struct node *head,
          const char *value)
{
	for (; head; head = head->next)
		if (head->value == value)
			return head;
	return NULL;
}

MODULE_LICENSE("GPL");
EXPORT_SYMBOL(add);

int main(int argc, char **argv) {
	return add(1, 2);
}
