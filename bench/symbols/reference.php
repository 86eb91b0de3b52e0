<?php
// Lists the declarations of PHP files from the tokens of PHP's own scanner.
//
// Reads paths from standard input, one a line, and prints for each a line of
// JSON: {"file": path, "symbols": [[class, qualified name, line], ...]}, or
// {"file": path, "error": why}.

function declarations(string $code): array
{
    $tokens = array_values(array_filter(
        PhpToken::tokenize($code, TOKEN_PARSE),
        fn ($t) => !$t->is([T_WHITESPACE, T_COMMENT, T_DOC_COMMENT])
    ));
    $out = [];
    $scopes = [];        // of braces: [name or null, is it a type]
    $pending = null;     // what the next brace opens
    $round = 0;          // depth of () and []
    $n = count($tokens);
    $path = function () use (&$scopes) {
        return array_values(array_filter(array_column($scopes, 0), fn ($s) => $s !== null));
    };
    for ($i = 0; $i < $n; $i++) {
        $t = $tokens[$i];
        $last = $i > 0 ? $tokens[$i - 1] : null;
        $next = $tokens[$i + 1] ?? null;
        switch (true) {
            case $t->text === '{' || $t->is([T_CURLY_OPEN, T_DOLLAR_OPEN_CURLY_BRACES]):
                $scopes[] = $pending ?? [null, false];
                $pending = null;
                break;
            case $t->text === '}':
                array_pop($scopes);
                break;
            case $t->text === '(' || $t->text === '[' || $t->is(T_ATTRIBUTE):
                $round++;
                break;
            case $t->text === ')' || $t->text === ']':
                $round--;
                break;
            case $t->text === ';':
                if ($round === 0) {
                    $pending = null;
                }
                break;
            case $t->is([T_CLASS, T_INTERFACE, T_TRAIT, T_ENUM]):
                if ($last?->is(T_DOUBLE_COLON)) {
                    break;
                }
                if ($t->is(T_CLASS) && ($last?->is([T_NEW, T_READONLY]) && !$next->is(T_STRING) || $last?->text === ']' && !$next->is(T_STRING))) {
                    $pending = [null, true];
                    break;
                }
                if ($next?->is(T_STRING)) {
                    $out[] = ['type', implode('.', [...$path(), $next->text]), $next->line];
                    $pending = [$next->text, true];
                }
                break;
            case $t->is(T_FUNCTION):
                if ($last?->is(T_USE)) {
                    break;
                }
                $k = $i + 1;
                if ($tokens[$k]->text === '&') {
                    $k++;
                }
                if ($tokens[$k]->text === '(' || ($tokens[$k + 1] ?? null)?->text !== '(') {
                    $pending ??= null;
                    break;
                }
                $out[] = ['function', implode('.', [...$path(), $tokens[$k]->text]), $tokens[$k]->line];
                $pending = [$tokens[$k]->text, false];
                break;
            case $t->is(T_CASE):
                if ($round === 0 && $scopes && end($scopes)[1]) {
                    $out[] = ['value', implode('.', [...$path(), $next->text]), $next->line];
                }
                break;
            case $t->is(T_CONST):
                if ($last?->is(T_USE) || $round > 0) {
                    break;
                }
                for ($k = $i + 1, $depth = 0; $k < $n && $tokens[$k]->text !== ';'; $k++) {
                    $s = $tokens[$k]->text;
                    if ($s === '(' || $s === '[' || $s === '{') {
                        $depth++;
                    } elseif ($s === ')' || $s === ']' || $s === '}') {
                        $depth--;
                    } elseif ($s === '=' && $depth === 0) {
                        $name = $tokens[$k - 1];
                        $out[] = ['value', implode('.', [...$path(), $name->text]), $name->line];
                    }
                }
                break;
            case $t->is(T_STRING) && $t->text === 'define' && $next?->text === '(' && !array_filter($path()) && !($last?->is([T_OBJECT_OPERATOR, T_DOUBLE_COLON, T_FUNCTION])):
                $s = $tokens[$i + 2] ?? null;
                if ($s?->is(T_CONSTANT_ENCAPSED_STRING)) {
                    $out[] = ['value', trim($s->text, '\'"'), $s->line];
                }
                break;
        }
    }
    return $out;
}

while (($line = fgets(STDIN)) !== false) {
    $file = rtrim($line, "\n");
    try {
        echo json_encode(['file' => $file, 'symbols' => declarations(file_get_contents($file))], JSON_INVALID_UTF8_SUBSTITUTE), "\n";
    } catch (Throwable $e) {
        echo json_encode(['file' => $file, 'error' => $e->getMessage()], JSON_INVALID_UTF8_SUBSTITUTE), "\n";
    }
}
