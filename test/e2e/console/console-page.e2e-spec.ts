import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConsolePage } from '../../../src/console/console-page.js';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';

const POLICY = [
  "base-uri 'none'",
  "connect-src 'self'",
  "default-src 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "img-src 'self' blob: data:",
  "media-src 'self' blob:",
  "require-trusted-types-for 'script'",
  "script-src 'self'",
  "style-src 'self'",
  "trusted-types 'none'",
];

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({ PUBLIC_URL: 'https://shim.example/gateway/' });
});
afterAll(() => gateway.stop());

const read = (path: string) => fetch(gateway.url + path);
const policyOf = (response: Response) =>
  response.headers
    .get('content-security-policy')
    ?.split(';')
    .map((rule) => rule.trim())
    .sort();

describe('the page of the console', () => {
  it.each(['/console', '/console/', '/console/tasks/task_1', '/console/find?id=a.b'])(
    'is one document for every screen, which no cache keeps: %s',
    async (path) => {
      const response = await read(path);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(policyOf(response)).toEqual(POLICY);
      expect(response.headers.get('x-frame-options')).toBe('DENY');
      expect(response.headers.get('cross-origin-opener-policy')).toBe('same-origin');
      expect(await response.text()).toContain('<div id="page">');
    },
  );

  it('names its files below the path of PUBLIC_URL; each is kept for ever, and sent compressed', async () => {
    const html = await (await read('/console')).text();
    const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);
    expect(files.length).toBeGreaterThanOrEqual(3);
    for (const file of files) {
      expect(file).toMatch(/^\/gateway\/console\/assets\/[\w.-]+-[\w-]{8}\.(js|css|svg)$/);
      const response = await read(file.slice('/gateway'.length));
      expect([file, response.status]).toEqual([file, 200]);
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(response.headers.get('content-encoding')).toBe('gzip');
      expect(policyOf(response)).toEqual(POLICY);
    }
  });

  it.each([
    ['GET', '/console/assets/none.js'],
    ['GET', '/console/assets/..%2findex.html'],
    ['GET', '/console/api'],
    ['POST', '/console/tasks'],
  ])('is no answer to %s %s', async (method, path) => {
    const response = await fetch(gateway.url + path, { method });
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.headers.get('content-type')).toMatch('application/json');
  });

  it.each([{ CONSOLE: 'off' }, { ROLE: 'worker' }])('is not there with %j', async (settings) => {
    const other = await startTestGateway(settings);
    try {
      expect((await fetch(`${other.url}/console`)).status).toBe(404);
    } finally {
      await other.stop();
    }
  });

  it('is not there where it was not built', () => {
    const folder = pathToFileURL(`${mkdtempSync(join(tmpdir(), 'shim-page-'))}/`);
    expect(ConsolePage.read('', folder)).toBeUndefined();
  });

  it('has no text that runs as code in its document', async () => {
    const html = await (await read('/console')).text();
    expect(html).not.toMatch(/<script(?![^>]*src=)|<style|\son\w+=|style=/);
  });
});
