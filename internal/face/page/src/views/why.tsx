// What the rank of a hit is made of.

import type { Hit } from '../types';

// parts are what the signals of the ranking say, in words.
const parts: Record<string, string> = {
  lexical: 'words in the text', vector: 'meaning of the text', mean: 'what the document is about', pathname: 'other words of the path', total: 'words in the whole document',
  stem: 'name of the file', rarestem: 'rare words in its name', definition: 'defines a name of the query', size: 'a whole declaration', declares: 'a declaration',
  names: 'names that it defines', central: 'many others use it', shallow: 'high in the tree', directory: 'name of the folder', path: 'is the path of the query', named: 'the place that is named',
  literal: 'the words as they follow each other', coverage: 'words together in one place', usage: 'a use', prose: 'prose', body: 'a body of code', page: 'best sections of the page',
  words: 'words of the section', whole: 'every word of the query', lead: 'first lines of the section', test: 'a test', specification: 'a specification', example: 'an example', generated: 'generated', reexport: 'only passes on',
  superseded: 'there is a newer version', declared: 'declares what another file does', translated: 'in another language', vendored: 'a copy of another project', foreign: 'of another project',
  unnamed: 'not used by the project', aside: 'beside the code', feedback: 'was rated as no answer', dated: 'tells of the past', deprecated: 'deprecated',
};

// Why shows the parts, and how they give the score: what speaks for the place is
// added, what speaks against it multiplies that, and the whole is set against
// the best place, whose score is how probably it answers.
export function Why({ hit }: { hit: Hit }) {
  const { rest = 0, ...named } = hit.explain ?? {};
  const list = Object.entries(named).sort((a, b) => Number(b[1] >= 0) - Number(a[1] >= 0) || Math.abs(b[1]) - Math.abs(a[1]));
  const most = Math.max(...list.map(([, v]) => Math.abs(v)), Math.abs(rest), 0.001);
  let sum = 0, factor = 1;
  for (const [, v] of list) if (v < 0) factor *= 1 + v; else sum += v;
  const total = sum * factor + rest;
  return (
    <div>
      {hit.why && <p class="faint">{hit.why.join(' · ')}</p>}
      <ul class="why">
        {list.map(([name, v]) => {
          const bare = name.replace(/^section\./, '');
          return <Part key={name} title={name} name={parts[bare] ?? bare} n={v < 0 ? `× ${(1 + v).toFixed(2)}` : '+ ' + v.toFixed(3)} wide={Math.abs(v) / most} less={v < 0} />;
        })}
        {rest !== 0 && <Part title="rest" name="other passages of the document" n={(rest < 0 ? '− ' : '+ ') + Math.abs(rest).toFixed(3)} wide={Math.abs(rest) / most} less={rest < 0} />}
        <li class="sum"><span>together</span><span class="n">= {total.toFixed(3)}</span>
          <span class="faint">{total > 0 && hit.score > 0 ? `× ${(hit.score / total).toFixed(2)}, by which the best place here gets its probability: ${hit.score.toFixed(2)}` : ''}</span></li>
      </ul>
    </div>
  );
}

function Part({ title, name, n, wide, less }: { title: string; name: string; n: string; wide: number; less: boolean }) {
  return (
    <li class={less ? 'less' : ''}>
      <span title={title}>{name}</span>
      <span class="n">{n}</span>
      <span class="bar-of" style={{ width: wide * 100 + '%' }} aria-hidden="true" />
    </li>
  );
}
