// The face of a grammar module: the host writes a text into memory, parse
// fills an array of records, one per wanted node in document order, and the
// host reads it in place. Nothing else crosses the border.
//
// TS_LANGUAGE is the grammar's constructor, given on the compiler's line.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tree_sitter/api.h>

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

static TSParser *parser;
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
  parser = ts_parser_new();
  if (!ts_parser_set_language(parser, TS_LANGUAGE())) return -1;
  uint32_t n = ts_language_symbol_count(TS_LANGUAGE());
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

static int push(const TSTreeCursor *c, TSNode n, uint16_t symbol) {
  if (out_len == out_cap) {
    uint32_t cap = out_cap ? out_cap * 2 : 4096;
    record *r = realloc(out, (size_t)cap * sizeof(record));
    if (!r) return 0;
    out = r;
    out_cap = cap;
  }
  record *r = &out[out_len++];
  r->symbol = symbol;
  r->field = (uint8_t)ts_tree_cursor_current_field_id(c);
  r->flags = (uint8_t)((ts_node_is_named(n) ? 1 : 0) | (ts_node_is_error(n) ? 2 : 0) | (ts_node_is_missing(n) ? 4 : 0) | (ts_node_has_error(n) ? 8 : 0));
  r->start = ts_node_start_byte(n);
  r->end = ts_node_end_byte(n);
  r->next = 0;
  return 1;
}

// parse reads n bytes of the buffer, in at most limit times a hundred steps of
// the parser. It returns how many records there are, -1 when it was
// stopped, -2 when memory ran out.
EXPORT(parse) int32_t parse(uint32_t n, uint32_t limit) {
  out_len = 0;
  steps = 0;
  step_limit = limit;
  fuel = ((uint64_t)1 << 24) + ((uint64_t)n << 8);
  ts_parser_reset(parser);
  length = n;
  TSInput input = {.payload = NULL, .read = chunk, .encoding = TSInputEncodingUTF8};
  TSParseOptions options = {.payload = NULL, .progress_callback = progress};
  TSTree *tree = ts_parser_parse_with_options(parser, NULL, input, options);
  if (!tree) return -1;
  TSTreeCursor c = ts_tree_cursor_new(ts_tree_root_node(tree));
  // open holds the records whose subtree is being walked, one per level that
  // emitted; depth says at which level.
  uint32_t cap = 256, top = 0, depth = 0;
  struct { uint32_t record, depth; } *open = malloc(cap * sizeof *open);
  int32_t result = 0;
  if (!open) { result = -2; goto done; }
  for (;;) {
    TSNode node = ts_tree_cursor_current_node(&c);
    uint16_t symbol = ts_node_symbol(node);
    uint8_t w = symbol == (uint16_t)-1 ? 1 : want[symbol];
    if (w) {
      if (!push(&c, node, symbol)) { result = -2; break; }
      if (top == cap) {
        cap *= 2;
        void *bigger = realloc(open, cap * sizeof *open);
        if (!bigger) { result = -2; break; }
        open = bigger;
      }
      open[top].record = out_len - 1;
      open[top++].depth = depth;
    }
    if (w != 2 && ts_tree_cursor_goto_first_child(&c)) {
      depth++;
      continue;
    }
    for (;;) {
      while (top && open[top - 1].depth >= depth) out[open[--top].record].next = out_len;
      if (ts_tree_cursor_goto_next_sibling(&c)) break;
      if (!ts_tree_cursor_goto_parent(&c)) goto done;
      depth--;
    }
  }
done:
  while (top) out[open[--top].record].next = out_len;
  free(open);
  ts_tree_cursor_delete(&c);
  ts_tree_delete(tree);
  return result < 0 ? result : (int32_t)out_len;
}
