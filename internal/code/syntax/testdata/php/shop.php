<?php
declare(strict_types=1);
namespace App\Http;

use Foo\Bar as Baz;
use Foo\{A, B\C as D};
use function Foo\fn1;
use const Foo\C1;
require_once __DIR__ . '/x.php';
include 'y.php';
const TOP = 1;
define('OTHER', 2);

/**
 * Doc.
 */
#[Attr(1)]
abstract class K extends \Base\P implements I, J\L
{
    use T1, T2 { x as y; }
    public const A = 1, B = 2;
    private ?Foo $f = null;
    public static int|string $g;
    public function __construct(private readonly Svc $svc, protected int $n = 0) {
        parent::__construct();
        $this->f = new Foo($n);
        self::make();
        static::z();
        $x = new Baz\Q();
        $x->run()->go();
        $this->svc->call($x);
        foo(); \strlen('x'); fn1();
        K::A; Foo::class; $x instanceof Bar;
        $f = function (Foo $a) use ($x) { return $a->b(); };
        $g = fn(int $q) => $q + 1;
        try {} catch (E1 | \E2 $e) { throw new E3; }
        foreach ($x as $k => $v) { $v->m(); }
        new class extends Z { public function anon() {} };
        echo $this->f?->nul();
    }
    abstract protected static function &make(Foo|Bar $a, ?array $b, Foo ...$c): ?static;
}
interface I extends M, N { const X = 1; public function i(); }
trait T { public function t() { function inner() {} } }
enum Suit: string implements I { case Hearts = 'H'; case S = 'S'; const W = self::Hearts; public function label(): string { return ''; } }
function helper(int $a): void { }
?>
<b><?= $x ?></b>
