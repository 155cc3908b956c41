import { afterEach, beforeEach, expect } from '@jest/globals';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BoundedDownload } from '../../src/platform/http-client/bounded-download.js';
import type { DownloadOptions } from '../../src/platform/http-client/download.js';
import { EgressRules } from '../../src/platform/http-client/egress-rules.js';
import type { SsrfSafeDialer } from '../../src/platform/http-client/ssrf-safe-dialer.js';
import { type RawAnswer, StubWeb } from './stub-web.js';

export const LIMITS = {
  connectMs: 200,
  headersMs: 200,
  idleMs: 200,
  totalMs: 1_500,
  rateGraceMs: 200,
  minBytesPerSecond: 10_000,
};
export const policy = { rules: EgressRules.none };

/** Writes `chunk` every `everyMs` until the other side has had enough. */
export function drip(socket: Socket, chunk: string, everyMs: number): void {
  const timer = setInterval(() => socket.write(chunk), everyMs);
  socket.once('close', () => {
    clearInterval(timer);
  });
}

/** Downloads from one stub server into one folder; both are new in every test. */
export function hostileDownloads() {
  let web: StubWeb;
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'download-'));
  });
  afterEach(async () => {
    await web.stop();
    await rm(dir, { recursive: true });
  });

  async function serve(...options: Parameters<typeof StubWeb.start>): Promise<StubWeb> {
    web = await StubWeb.start(...options);
    return web;
  }

  async function fetchFrom(
    raw: RawAnswer,
    options: DownloadOptions = {},
    url = 'http://example.com/',
  ) {
    await serve(raw);
    return fetchWith(web.dialer(), options, url);
  }

  function fetchWith(
    dialer: SsrfSafeDialer,
    options: DownloadOptions = {},
    url = 'http://example.com/',
  ) {
    return new BoundedDownload(dialer, policy).toFile(url, dir, { limits: LIMITS, ...options });
  }

  /** The download failed, its file is gone and so is its connection. */
  async function expectFailure(fetched: Promise<unknown>, code = 'audio_download_failed') {
    await expect(fetched).rejects.toMatchObject({ code });
    await expect(readdir(dir)).resolves.toEqual([]);
    for (let i = 0; i < 50 && web.openSockets > 0; i += 1) await delay(10);
    expect(web.openSockets).toBe(0);
  }

  const delay = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  return { serve, fetchFrom, fetchWith, expectFailure, servers: () => web, folder: () => dir };
}
