import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import express from 'express';
import { filesInMemory } from './files-in-memory.js';

let folder: string;
let server: Server;
let url: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shim-files-'));
  for (const name of ['a.css', 'b.js', 'secret']) await writeFile(join(folder, name), `of ${name}`);
  const app = express().use('/docs', filesInMemory(join(folder)));
  server = createServer(app.use('/docs', (_request, response) => response.send('the next')));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/docs`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true });
});

const bodyOf = async (path: string, init: RequestInit = {}) =>
  (await fetch(url + path, init)).text();

describe('files in memory', () => {
  it('are read once, and then answered without the disk', async () => {
    expect(await bodyOf('/a.css')).toBe('of a.css');
    await rm(join(folder, 'a.css'));
    const { headers } = await fetch(`${url}/a.css`);
    expect(headers.get('content-type')).toBe('text/css; charset=utf-8');
    expect(headers.get('content-length')).toBe('8');
    expect(headers.get('last-modified')).toMatch(/ GMT$/);
    expect(await bodyOf('/a.css')).toBe('of a.css');
  });

  it.each<[string, string, RequestInit]>([
    ['another method', '/b.js', { method: 'POST' }],
    ['a part', '/b.js', { headers: { range: 'bytes=0-1' } }],
    ['a newer file', '/b.js', { headers: { 'if-none-match': '"a"' } }],
    ['no such file', '/c.js', {}],
    ['a file without an ending', '/secret', {}],
    ['a path out of the folder', '/..%2fb.js', {}],
    ['a folder', '/', {}],
  ])('leave a request for %s to the next middleware', async (_what, path, init) => {
    expect(await bodyOf(path, init)).toBe('the next');
  });
});
