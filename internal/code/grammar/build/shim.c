// The face of a grammar module: the host writes a text into memory, parse
// fills an array of records, one per wanted node in document order, and the
// host reads it in place. Nothing else crosses the border.
//
// TS_LANGUAGE is the grammar's constructor, given on the compiler's line.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tree_sitter/api.h>
#include "language.h"
#include "pool.h"
#include "subtree.h"
#include "tree.h"

extern const TSLanguage *TS_LANGUAGE(void);

#define EXPORT(name) __attribute__((export_name(#name)))

// A record is 16 bytes: what package grammar calls a Node.
typedef struct {
  uint16_t symbol; // number in the grammar's table of node types
  uint8_t field;   // field of the parent that it stands in, 0 for none
  uint8_t flags;   // 1 named, 2 error, 4 missing, 8 contains an error
  uint32_t start, end; // bytes
  uint32_t next;   // index of the first record behind its subtree
} record;

static const TSLanguage *language;
static uint8_t *want;    // by symbol: 1 emit, 2 emit and leave out what is in it
static uint8_t *source;
static uint32_t source_size;
static record *out;
static uint32_t out_len, out_cap;
static uint32_t length;
static uint32_t steps, step_limit;
static volatile uint32_t stop; // set by the host to end a parse
static uint64_t fuel;

// The hand-written scanner of a grammar is compiled so that it calls this at
// every branch: one that runs in circles stops here. The parser itself is
// stopped by progress.
void __sanitizer_cov_trace_pc(void) {
  if (--fuel == 0) __builtin_trap();
}

static const char *chunk(void *payload, uint32_t byte, TSPoint at, uint32_t *read) {
  (void)payload;
  (void)at;
  *read = byte < length ? length - byte : 0;
  return *read ? (const char *)source + byte : "";
}

static bool progress(TSParseState *state) {
  (void)state;
  return stop || ++steps > step_limit;
}

EXPORT(init) int32_t init(void) {
  language = TS_LANGUAGE();
  TSParser *parser = ts_parser_new();
  bool fits = ts_parser_set_language(parser, language);
  ts_parser_delete(parser);
  tree_reset();
  if (!fits) return -1;
  uint32_t n = ts_language_symbol_count(language);
  want = malloc(n);
  memset(want, 1, n);
  return (int32_t)n;
}

EXPORT(symbols) uint32_t symbols(void) { return ts_language_symbol_count(TS_LANGUAGE()); }
EXPORT(symbol_name) const char *symbol_name(uint32_t s) { return ts_language_symbol_name(TS_LANGUAGE(), (TSSymbol)s); }
EXPORT(symbol_named) int32_t symbol_named(uint32_t s) { return ts_language_symbol_type(TS_LANGUAGE(), (TSSymbol)s) == TSSymbolTypeRegular; }
EXPORT(fields) uint32_t fields(void) { return ts_language_field_count(TS_LANGUAGE()); }
EXPORT(field_name) const char *field_name(uint32_t f) { return ts_language_field_name_for_id(TS_LANGUAGE(), (TSFieldId)f); }
EXPORT(wanted) uint8_t *wanted(void) { return want; }
EXPORT(stopper) volatile uint32_t *stopper(void) { return &stop; }
EXPORT(results) record *results(void) { return out; }

// buffer returns where the host writes a text of n bytes; 0 when memory is out.
EXPORT(buffer) uint8_t *buffer(uint32_t n) {
  if (n > source_size) {
    free(source);
    source_size = n + n / 4 + 4096;
    source = malloc(source_size);
    if (!source) source_size = 0;
  }
  return source;
}

// level is a node whose children are being gone over.
typedef struct {
  const Subtree *child; // the next one
  uint32_t left;        // children from there on
  uint32_t structural;  // its index among those that are no extras
  uint32_t at;          // byte behind the child before it, or where the node begins
  uint32_t record;      // of the node, NONE when it was passed over
  const TSSymbol *alias; // of its children by structural index, or NULL
  const TSFieldMapEntry *fields, *fields_end;
  TSFieldId field; // for children without one: that of a hidden node
  bool begun;
} level;

enum { NONE = UINT32_MAX };

static level *levels;
static uint32_t levels_cap;

// open starts on the children of node, which begins at a byte.
static bool open(uint32_t depth, Subtree node, uint32_t at, uint32_t number, TSFieldId field) {
  if (depth == levels_cap) {
    uint32_t cap = levels_cap ? levels_cap * 2 : 256;
    level *l = realloc(levels, cap * sizeof *l);
    if (!l) return false;
    levels = l;
    levels_cap = cap;
  }
  level *l = &levels[depth];
  l->child = ts_subtree_children(node);
  l->left = node.ptr->child_count;
  l->structural = 0;
  l->at = at;
  l->record = number;
  l->alias = ts_language_alias_sequence(language, node.ptr->production_id);
  ts_language_field_map(language, node.ptr->production_id, &l->fields, &l->fields_end);
  l->field = field;
  l->begun = false;
  return true;
}

static bool push(Subtree node, TSSymbol alias, uint16_t symbol, TSFieldId field, uint32_t start) {
  if (out_len == out_cap) {
    uint32_t cap = out_cap ? out_cap * 2 : 4096;
    record *r = realloc(out, (size_t)cap * sizeof(record));
    if (!r) return false;
    out = r;
    out_cap = cap;
  }
  record *r = &out[out_len++];
  bool named = alias ? ts_language_symbol_metadata(language, alias).named : ts_subtree_named(node);
  r->symbol = symbol;
  r->field = (uint8_t)field;
  r->flags = (uint8_t)((named ? 1 : 0) | (symbol == ts_builtin_sym_error ? 2 : 0) | (ts_subtree_missing(node) ? 4 : 0) | (ts_subtree_error_cost(node) ? 8 : 0));
  r->start = start;
  r->end = start + ts_subtree_size(node).bytes;
  r->next = out_len;
  return true;
}

// walk writes the records of a tree. It does what a cursor does, on the tree
// itself: a cursor finds a node's place and field anew at every step. Visible
// nodes are those that the grammar shows or calls by another name (an alias);
// what is in hidden ones counts as their parent's, in the field that they
// stand in unless it has one of its own.
static bool walk(Subtree root) {
  uint32_t depth = 0;
  Subtree node = root;
  TSSymbol alias = 0;
  TSFieldId field = 0;
  uint32_t start = ts_subtree_padding(root).bytes;
  bool visible = true;
  for (;;) {
    uint32_t number = NONE;
    uint8_t w = 1;
    if (visible) {
      TSSymbol own = alias ? alias : ts_subtree_symbol(node);
      uint16_t symbol = own == ts_builtin_sym_error ? own : language->public_symbol_map[own];
      w = symbol == ts_builtin_sym_error ? 1 : want[symbol];
      if (w) {
        number = out_len;
        if (!push(node, alias, symbol, field, start)) return false;
      }
    }
    if (w != 2 && ts_subtree_child_count(node) > 0 && (visible || ts_subtree_visible_child_count(node) > 0)) {
      if (!open(depth, node, start, number, visible ? 0 : field)) return false;
      depth++;
    }
    while (depth && !levels[depth - 1].left) {
      if (levels[--depth].record != NONE) out[levels[depth].record].next = out_len;
    }
    if (!depth) return true;
    level *l = &levels[depth - 1];
    node = *l->child++;
    l->left--;
    start = l->at + (l->begun ? ts_subtree_padding(node).bytes : 0);
    l->begun = true;
    l->at = start + ts_subtree_size(node).bytes;
    visible = ts_subtree_visible(node);
    alias = 0;
    field = 0;
    if (!ts_subtree_extra(node)) {
      if (l->alias) alias = l->alias[l->structural];
      visible |= alias != 0;
      field = l->field;
      for (const TSFieldMapEntry *f = l->fields; f < l->fields_end; f++) {
        if (!f->inherited && f->child_index == l->structural) {
          field = f->field_id;
          break;
        }
      }
      l->structural++;
    }
  }
}

// parse reads n bytes of the buffer, in at most limit times a hundred steps of
// the parser. It returns how many records there are, -1 when it was
// stopped, -2 when memory ran out.
EXPORT(parse) int32_t parse(uint32_t n, uint32_t limit) {
  out_len = 0;
  steps = 0;
  step_limit = limit;
  fuel = ((uint64_t)1 << 24) + ((uint64_t)n << 8);
  length = n;
  // The parser and the tree lie in memory that is given up as a whole below:
  // a tree is not taken apart node by node.
  TSParser *parser = ts_parser_new();
  ts_parser_set_language(parser, language);
  TSInput input = {.payload = NULL, .read = chunk, .encoding = TSInputEncodingUTF8};
  TSParseOptions options = {.payload = NULL, .progress_callback = progress};
  TSTree *tree = ts_parser_parse_with_options(parser, NULL, input, options);
  int32_t result = !tree ? -1 : walk(tree->root) ? (int32_t)out_len : -2;
  ts_parser_delete(parser); // its scanner has memory of its own
  tree_reset();
  return result;
}
