import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';

/** A sample that takes longer is a fault. */
const SAMPLE_MS = 60_000;
/** What the programs write after the output of a sample: its exit code between two NUL bytes. */
const END = /^([^]*)\0(-?\d+)\0$/;

// Each shell of a sample is forked from one that has started; a failed sample's own words are part of its output.
const BASH = `
while IFS= read -r -d '' sample; do
  ( eval "$sample" ) </dev/null 2>errors
  code=$?
  [ $code = 0 ] || cat errors
  printf '\\0%d\\0' $code
done`;
// A module of its own for each sample, even where two have the same text.
const NODE = String.raw`
let text = '';
let count = 0;
for await (const chunk of process.stdin.setEncoding('utf8')) {
  text += chunk;
  for (let end = text.indexOf('\0'); end >= 0; end = text.indexOf('\0')) {
    const module = encodeURIComponent(text.slice(0, end) + '\n// ' + (count += 1));
    text = text.slice(end + 1);
    const failure = await import('data:text/javascript,' + module).then(() => undefined, String);
    process.stdout.write((failure ?? '') + '\0' + (failure === undefined ? 0 : 1) + '\0');
  }
}`;
// A process of its own for each sample, forked from one that has loaded what costs half a second.
const PYTHON = String.raw`
import os, sys, traceback
from os import _exit as leave
import requests
text = b''
while chunk := os.read(0, 65536):
    *samples, text = (text + chunk).split(b'\0')
    for sample in samples:
        child = os.fork()
        if child == 0:
            code = 0
            try:
                exec(compile(sample, 'sample', 'exec'), {'__name__': '__main__'})
            except BaseException:
                traceback.print_exc(file=sys.stdout)
                code = 1
            sys.stdout.flush()
            leave(code)
        status = os.waitpid(child, 0)[1]
        os.write(1, b'\0%d\0' % os.waitstatus_to_exitcode(status))`;

/** Each reads samples from its input, a NUL after each, and runs one after the other. */
const PROGRAMS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  // Without the option it runs the person's own settings, because its input is a socket.
  curl: ['bash', '--norc', '-c', BASH],
  'Node.js': [process.execPath, '--input-type=module', '-e', NODE],
  Python: ['python3', '-c', PYTHON],
};

/** The labels of the samples that it can run. */
export const SAMPLE_LABELS = Object.keys(PROGRAMS);

/** Runs samples of one label as a reader runs them, without the start of a shell or of a language for each. */
export class SampleRunner {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #ended: Promise<unknown>;
  #output = '';
  #errors = '';

  /** Starts the program in a folder, with these variables and no others. */
  constructor(label: string, cwd: string, env: NodeJS.ProcessEnv) {
    const [program = '', ...options] = PROGRAMS[label] ?? [];
    this.#child = spawn(program, options, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#ended = once(this.#child, 'close').catch((error: unknown) => error);
    this.#child.stdin.on('error', (error) => (this.#errors += String(error)));
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => (this.#output += text));
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => (this.#errors += text));
  }

  /**
   * Runs one and answers its exit code and what it wrote; one that fails has written why.
   * @throws {Error} where the program ended, or the sample did not
   */
  async run(source: string): Promise<{ code: number; text: string }> {
    this.#output = '';
    this.#child.stdin.write(`${source}\0`);
    const signal = AbortSignal.timeout(SAMPLE_MS);
    for (;;) {
      const [, text, code] = END.exec(this.#output) ?? [];
      if (text !== undefined) return { code: Number(code), text };
      const more = once(this.#child.stdout, 'data', { signal });
      const isOver = await Promise.race([more.then(() => false), this.#ended.then(() => true)]);
      if (isOver) throw new Error(`the program of the samples has ended: ${this.#errors}`);
    }
  }

  /** Ends the program. */
  async stop(): Promise<void> {
    this.#child.stdin.end();
    // One that still runs a sample does not read that its input has ended.
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), SAMPLE_MS);
    await this.#ended;
    clearTimeout(timer);
  }
}
