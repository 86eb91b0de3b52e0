// What the rank of a hit is made of.

import type { Hit } from '../types';

// parts are what the signals of the ranking say, in words.
const parts: Record<string, string> = {
  lexical: 'words in the text', vector: 'meaning of the text', mean: 'what the document is about', pathname: 'other words of the path', total: 'words in the whole document',
  stem: 'name of the file', rarestem: 'rare words in its name', definition: 'defines a name of the query', size: 'a whole declaration', declares: 'a declaration',
  names: 'names that it defines', central: 'many others use it', shallow: 'high in the tree', directory: 'name of the folder', path: 'is the path of the query', named: 'the place that is named',
  literal: 'the words as they follow each other', coverage: 'words together in one place', usage: 'a use', prose: 'prose', body: 'a body of code', page: 'best sections of the page',
  words: 'words of the section', whole: 'every word of the query', lead: 'first lines of the section', test: 'a test', example: 'an example', generated: 'generated', reexport: 'only passes on',
  superseded: 'there is a newer version', declared: 'declares what another file does', translated: 'in another language', vendored: 'a copy of another project', foreign: 'of another project',
  unnamed: 'not used by the project', aside: 'beside the code', feedback: 'was rated as no answer', dated: 'tells of the past', deprecated: 'deprecated',
};

export function Why({ hit }: { hit: Hit }) {
  const list = Object.entries(hit.explain ?? {}).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  const most = Math.max(...list.map(([, v]) => Math.abs(v)), 0.001);
  return (
    <div>
      {hit.why && <p class="faint">{hit.why.join(' · ')}</p>}
      <ul class="why">
        {list.map(([name, v]) => {
          const bare = name.replace(/^section\./, '');
          return (
            <li key={name} class={v < 0 ? 'less' : ''}>
              <span title={name}>{parts[bare] ?? bare}</span>
              <span class="n">{v < 0 ? `× ${(1 + v).toFixed(2)}` : '+ ' + v.toFixed(3)}</span>
              <span class="bar-of" style={{ width: (Math.abs(v) / most) * 100 + '%' }} aria-hidden="true" />
            </li>
          );
        })}
      </ul>
    </div>
  );
}
