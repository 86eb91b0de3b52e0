// One document, with its lines.

import { useMemo } from 'preact/hooks';
import { useCall } from '../api';
import { Excerpt } from '../code/code';
import { languageOf } from '../code/languages';
import { Failed, Loading } from '../parts/states';

interface FileText {
  store: string;
  path: string;
  start: number;
  lines: number;
  text: string;
  note?: string;
}

export function Read(params: { store: string; '*': string }) {
  const store = decodeURIComponent(params.store);
  const path = useMemo(() => params['*'].split('/').map(decodeURIComponent).join('/'), [params['*']]);
  const file = useCall<FileText>('read', { store, path });
  if (file.error) return <Failed error={file.error} again={file.again} />;
  if (!file.data) return <Loading what="Reading" rows={8} />;
  return (
    <div class="read">
      <h1>{path}</h1>
      <Excerpt text={file.data.text} start={file.data.start} language={languageOf(path)} mark={null} />
    </div>
  );
}
