using System;

namespace Acme.Api
{
    [Serializable]
    public class Api : Base
    {
        public int Count { get; set; }

        /// <summary>Gets it.</summary>
        [HttpGet("x")]
        public async Task<int> GetAsync(int id)
        {
            foreach (var x in y)
            {
                Call(x);
            }
            return id;
        }

        public int Twice(int a) => a * 2;
    }

    public interface IThing
    {
        void Do(int a);
    }
}
