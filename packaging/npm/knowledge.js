#!/usr/bin/env node
// Becomes, as far as Node.js can, the program of this machine, which npm has
// installed as an optional dependency: the same input and output, the signals
// that it gets, and at the end the same exit status or signal.
'use strict';
const { spawn } = require('child_process');
const { constants } = require('os');
const me = require('./package.json');

const platform = `${process.platform}-${process.arch}`;
const dependency = `${me.name}-${platform}`;
const file = process.platform === 'win32' ? 'knowledge.exe' : 'knowledge';

function fail(message) {
  process.stderr.write(`knowledge: ${message}\n`);
  process.exit(1);
}

let program;
try {
  program = require.resolve(`${dependency}/${file}`);
} catch {
  if (dependency in me.optionalDependencies) {
    fail(`npm left the optional package ${dependency} out, which holds the program; install it: npm install ${dependency}@${me.version}`);
  }
  fail(`there is no program for ${platform}; build it with Go: go install github.com/seed-4f2d999b/knowledge/cmd/knowledge@v${me.version}`);
}

const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];
for (const signal of signals) {
  // A terminal sends its signals to the program too; it bears a second one.
  process.on(signal, () => child.kill(signal));
}
child.on('error', (err) => fail(`${program} does not start: ${err.message}; fetch it anew: npm install --force ${dependency}@${me.version}`));
child.on('exit', (status, signal) => {
  if (signal === null) {
    process.exit(status);
  }
  for (const s of signals) {
    process.removeAllListeners(s);
  }
  process.kill(process.pid, signal);
  setTimeout(() => process.exit(128 + (constants.signals[signal] || 0)), 100); // where a signal does not end us
});
