import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';

/** A sample that takes longer is a fault. */
const SAMPLE_MS = 60_000;
/** What Python writes after the output of a sample: its exit code between two NUL bytes. */
const END = /^([^]*)\0(-?\d+)\0$/;

// A process of its own for each sample, forked from one that has loaded what costs half a second. Its own end says its code.
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
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else int(end.code is not None)
            except BaseException:
                traceback.print_exc(file=sys.stdout)
                code = 1
            sys.stdout.flush()
            leave(code)
        status = os.waitpid(child, 0)[1]
        os.write(1, b'\0%d\0' % os.waitstatus_to_exitcode(status))`;

/** Runs samples of Python as a reader runs them, one after the other, without the start of Python and its packages for each. */
export class PythonSamples {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #ended: Promise<unknown>;
  #output = '';
  #errors = '';

  /** Starts Python in a folder, with these variables and no others. */
  constructor(cwd: string, env: NodeJS.ProcessEnv) {
    this.#child = spawn('python3', ['-c', PYTHON], { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#ended = once(this.#child, 'close').catch((error: unknown) => error);
    const note = (what: unknown) => (this.#errors += String(what));
    const { stdin, stdout, stderr } = this.#child;
    stdin.on('error', note);
    stdout.on('error', note).setEncoding('utf8');
    stdout.on('data', (text: string) => (this.#output += text));
    stderr.on('error', note).setEncoding('utf8').on('data', note);
  }

  /**
   * Runs one and answers its exit code and what it wrote; one that fails has written why.
   * @throws {Error} where Python ended, or the sample did not
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
      if (isOver) throw new Error(`Python has ended: ${this.#errors}`);
    }
  }

  /** Ends Python. */
  async stop(): Promise<void> {
    this.#child.stdin.end();
    // If it still runs a sample, it does not read that its input has ended.
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), SAMPLE_MS);
    await this.#ended;
    clearTimeout(timer);
  }
}
