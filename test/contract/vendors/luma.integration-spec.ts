import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { readVendor } from '../../../src/providers/async-json/vendor-files.js';
import type { VideoPort } from '../../../src/providers/ports/job.port.js';
import type { StubUpstream } from '../../support/stub-upstream.js';
import {
  CONTEXT,
  MADE,
  other,
  sentBody,
  vendor,
  VENDOR_KEY,
  vendorPort,
} from './vendor-harness.js';

const ID = '6a1f0c1e-32f1-4d0b-9c67-0f6d2b6a8a11';
const RAY = { ...CONTEXT, upstreamModel: 'ray-2' };
const BASE = '/dream-machine/v1';
const MOVIE = {
  prompt: 'The sea',
  seconds: '5',
  resolution: '720p',
  aspectRatio: '16:9',
  firstFrameUrl: 'https://images.test/first.png',
  lastFrameUrl: 'https://images.test/last.png',
};
type Reply = StubUpstream['reply'];

const generation = (parts: object): object => ({ id: ID, object: 'generation', ...parts });
const says =
  (body: string | object, status = 200): Reply =>
  (response) =>
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
const cuts: Reply = (response) => response.destroy();

/** The shipped file, whose base URL alone is changed. */
function luma(): VideoPort {
  const { vendor: file } = readVendor(
    fileURLToPath(new URL('../../../vendors/luma.json', import.meta.url)),
  );
  if (!file) throw new Error('the file of Luma is faulty');
  return vendorPort({ ...file, base_url: `${vendor.url}${BASE}` });
}

describe('the shipped file of Luma', () => {
  let port: VideoPort;
  beforeEach(() => {
    port = luma();
  });

  it('submits a video with all fields as Luma takes them', async () => {
    vendor.reply = says(generation({ state: 'queued' }), 201);
    expect(await port.submitVideo(MOVIE, RAY)).toBe(ID);
    const { method, url, headers } = vendor.only;
    expect([method, url]).toEqual(['POST', `${BASE}/generations/video`]);
    expect(headers.authorization).toBe(`Bearer ${VENDOR_KEY}`);
    expect(sentBody(vendor.only)).toEqual({
      model: 'ray-2',
      prompt: 'The sea',
      duration: '5s',
      resolution: '720p',
      aspect_ratio: '16:9',
      keyframes: {
        frame0: { type: 'image', url: 'https://images.test/first.png' },
        frame1: { type: 'image', url: 'https://images.test/last.png' },
      },
    });
  });

  it.each<[string, Reply]>([
    ['an HTML page', says('<html>no</html>')],
    ['an empty body', says('')],
    ['truncated JSON', says('{"id":"6a')],
    ['an answer above 1 MB', says(generation({ pad: 'a'.repeat(2_000_000) }))],
    ['an id of a wrong type', says({ id: { of: ID }, state: 'queued' })],
    ['an answer without id', says({ state: 'queued' })],
    ['a lost answer', cuts],
    ['an error 500', says({ detail: 'broken' }, 500)],
  ])('does not submit again after %s', async (_what, reply) => {
    vendor.reply = reply;
    await expect(port.submitVideo(MOVIE, RAY)).rejects.toMatchObject({
      kind: 'http_error',
      sent: true,
    });
    expect(vendor.seen).toHaveLength(1);
  });

  it.each([
    [400, 'rejected'],
    [429, 'rate_limited'],
  ])('reads the status %i of a submission as %s', async (status, kind) => {
    vendor.reply = says({ detail: 'no' }, status);
    await expect(port.submitVideo(MOVIE, RAY)).rejects.toMatchObject({ kind });
  });

  it.each([
    [{ state: 'queued' }, { state: 'pending', progress: null }],
    [{ state: 'completed', assets: {} }, { state: 'unreadable' }],
    [{ state: 'dreaming' }, { state: 'pending', progress: null }],
    [{ state: 'sleeping' }, { state: 'pending', progress: null, unknownState: 'sleeping' }],
    [
      { state: 'failed', failure_reason: 'Moderated' },
      { state: 'failed', failure: { code: null, message: 'Moderated', requestId: null } },
    ],
  ])('reads %j as %j', async (told, report) => {
    vendor.reply = says(generation(told));
    expect(await port.readVideo(ID, RAY)).toEqual(report);
    expect(vendor.only.url).toBe(`${BASE}/generations/${ID}`);
  });

  it.each<[string, Reply]>([
    ['an HTML page', says('<html>no</html>')],
    ['an empty body', says('')],
    ['an answer without a state', says({ id: ID })],
    ['an error 500', says('', 500)],
    ['a lost answer', cuts],
  ])('decides nothing where a read gets %s', async (_what, reply) => {
    vendor.reply = reply;
    await expect(port.readVideo(ID, RAY)).rejects.toMatchObject({ kind: 'http_error' });
  });

  it('is asked to delete a generation, and never to cancel one', async () => {
    vendor.reply = (response) => response.writeHead(204).end();
    expect([port.canDelete, port.canCancel]).toEqual([true, false]);
    await port.deleteVideo?.(ID, RAY);
    const { method, url, headers } = vendor.only;
    expect([method, url]).toEqual(['DELETE', `${BASE}/generations/${ID}`]);
    expect(headers.authorization).toBe(`Bearer ${VENDOR_KEY}`);
  });

  it('finds a lost generation in the list by all that was sent, and none where Luma filled in a ratio', async () => {
    const frames = { frame0: { type: 'image', url: MOVIE.firstFrameUrl } };
    const request = { prompt: 'The sea', duration: '5s', resolution: '720p', loop: false };
    const made = {
      ...{ model: 'ray-2', state: 'dreaming', created_at: '2026-11-29T10:01:00.0000000+00:00' },
      request: { ...request, aspect_ratio: '16:9', keyframes: frames },
    };
    const another = { ...made, id: 'another', request: { ...request, aspect_ratio: '16:9' } };
    const generations = [generation(made), another];
    vendor.reply = says({ generations, has_more: true, count: 2, limit: 100, offset: 0 });
    const { lastFrameUrl: _none, ...command } = MOVIE;
    const find = (parts: object) =>
      port.findVideo?.({ ...command, reference: 'task_1', ...parts }, RAY, MADE);
    expect(await find({})).toBe(ID);
    expect(await find({ firstFrameUrl: undefined })).toBe('another');
    for (const parts of [{ prompt: 'A boat' }, { aspectRatio: undefined }]) {
      await expect(find(parts)).rejects.toMatchObject({ kind: 'http_error' });
    }
    expect(vendor.seen.map(({ method, url }) => `${method} ${url}`)).toEqual(
      Array.from({ length: 4 }, () => `GET ${BASE}/generations`),
    );
  });

  it('gives the URL of the file, which does not get the key', async () => {
    const video = `${other.url}/a.mp4`;
    vendor.reply = says(generation({ state: 'completed', assets: { video } }));
    expect(await port.readVideo(ID, RAY)).toMatchObject({ state: 'succeeded' });
    expect(await port.openVideo(ID, RAY)).toEqual({ redirectUrl: video });
    expect(other.seen).toEqual([]);
  });
});
