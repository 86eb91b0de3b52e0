import { render } from 'preact';
import { App } from './app';
import { listen } from './keys';
import { begin } from './session';
import './theme';

begin();
listen();
render(<App />, document.getElementById('page')!);
