import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { TempFolder } from './temp-folder.js';

const OWN = String(process.pid);

let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'shim-scratch-'));
});
afterEach(() => {
  rmSync(dataDir, { recursive: true, force: true });
});

const uploads = () => readdirSync(join(dataDir, 'uploads')).sort();
const leave = (name: string) => {
  mkdirSync(join(dataDir, 'uploads', name), { recursive: true });
  writeFileSync(join(dataDir, 'uploads', name, 'recording'), 'abc');
};

describe('TempFolder', () => {
  it('makes folders that only its user may enter', async () => {
    const folder = new TempFolder({ dataDir });
    await folder.onModuleInit();
    const modes = [join(dataDir, 'uploads'), folder.path].map(
      (path) => statSync(path).mode & 0o777,
    );
    expect(modes).toEqual([0o700, 0o700]);
  });

  it('removes the files of killed processes, and none of running ones', async () => {
    const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    const killed = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    for (const name of [other.pid, killed.pid, OWN, 'stray']) leave(String(name));
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    const folder = new TempFolder({ dataDir });
    await folder.onModuleInit();
    expect(uploads()).toEqual([String(other.pid), OWN].sort());
    expect(readdirSync(folder.path)).toEqual([]);
    expect(readdirSync(join(dataDir, 'uploads', String(other.pid)))).toEqual(['recording']);
    other.kill('SIGKILL');
    await once(other, 'exit');
  });

  it('is removed with its content when the process ends normally', async () => {
    const folder = new TempFolder({ dataDir });
    await folder.onModuleInit();
    writeFileSync(folder.newFile(), 'abc');
    await folder.onModuleDestroy();
    expect(uploads()).toEqual([]);
  });
});
