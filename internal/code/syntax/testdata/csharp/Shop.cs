using System;
using System.Collections.Generic;
using static System.Math;
using Json = Newtonsoft.Json.Linq;
global using Foo.Bar;

namespace Example.Shop
{
    /// <summary>
    /// A shop.
    /// </summary>
    [Service("shop"), Serializable]
    public sealed partial class Shop<T> : Base<T>, ISeller, Other.IThing where T : Item, new()
    {
        private const int Max = 3;
        private static readonly Logger log = Logger.Get(typeof(Shop<>)), other;
        public List<T> Items { get; set; } = new List<T>();
        public int Size => Items.Count;
        public string? Name { get { return name.Trim(); } private set { name = Check(value); } }
        public event EventHandler<Args> Changed;
        public event Action Custom { add { On(value); } remove { Off(value); } }
        public T this[int i] { get => Items[i]; }

        static Shop() { log.Info("x"); }

        /// <summary>Makes one.</summary>
        public Shop(Database db, params int[] sizes) : base(db) { this.db = db; }
        public Shop() : this(null) { }
        ~Shop() { Close(); }

        [Obsolete]
        public override async Task<R?> Find<R>(string id, Func<T, R> f = null, out int n) where R : class
        {
            foreach (var item in Items) { item.Touch(); }
            foreach (Item x in Items) { }
            foreach (var (k, v) in map) { }
            using (var reader = new Reader(id)) { }
            using var second = Open(id);
            var made = new Inner.Deep<T>(1) { Name = "x" };
            Item typed = new();
            var copy = (Item)made.Clone();
            var cast = made as Book;
            if (made is Book book && book.Ok()) { book.Read(); }
            try { await db.Load(id)?.Run()!; } catch (IOException e) when (e.Bad()) { throw new ShopException(e); }
            int Local(int q) => q + 1;
            Items.Select(i => i.Name).Where((a, b) => a.Use(b)).ForEach(delegate (int z) { Go(z); });
            base.Find<R>(id);
            this.items.Clear();
            int.TryParse(id, out var parsed);
            var (one, two) = Pair();
            switch (o) { case Point p: p.Go(); break; case Item { Name: "x" } it: break; }
            var s = o switch { Point { X: 1 } q => q.Y, _ => 0 };
            nameof(Find);
            return default(R);
        }

        public static Shop<T> operator +(Shop<T> a, Shop<T> b) => a;
        public static implicit operator string(Shop<T> a) => a.ToString();
        void ISeller.Sell(Item x) { }
        abstract partial void Abs();
        delegate void Done(int x);
    }

    public interface ISeller { void Sell(Item x); int Price { get; } }
    public enum Color : byte { Red = 1, Green }
    public record Point(int X, Label Y) : Base(X) { public int Z { get; init; } }
    public readonly record struct Pair<A>(A One);
    public struct Size { public int W; }
    public static class Ext { public static int Len(this string s) => s.Length; }
    class Primary(Database db) : Root(db) { void Go() => db.Load(); }
}
namespace Example.Other { namespace Deep { class In { } } }
public delegate int Handler(object sender, Event e);
