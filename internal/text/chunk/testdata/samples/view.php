<?php
namespace App;

use Foo\Bar;

/** A view. */
final class View extends Base
{
    const X = 1;

    public function __construct(private int $a)
    {
    }

    public static function &make(): self
    {
        $t = <<<HTML
        function nope() {}
        HTML;
        return new self(1);
    }
}

function helper($x) {
    return $x;
}
