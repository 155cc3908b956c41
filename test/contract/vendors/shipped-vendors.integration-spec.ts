import { describe, expect, it } from '@jest/globals';
import { readdirSync } from 'node:fs';
import { createHmac } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { loadVendors } from '../../../src/providers/async-json/vendor-files.js';
import { MAKER_WIRES } from './maker-wires.js';
import { QUEUE_WIRES } from './queue-wires.js';
import { type ShippedWire } from './wire.js';
import { MADE, SEA, sentBody, vendor, vendorPort, VENDOR_KEY } from './vendor-harness.js';

const SHIPPED_WIRES = [...QUEUE_WIRES, ...MAKER_WIRES];
const shipped = loadVendors(undefined);
const atBase = <T extends object | string>(said: T): T =>
  JSON.parse(JSON.stringify(said).replaceAll('BASE', vendor.url)) as T;

/** The adapter of a shipped file, whose vendor is played here. */
function portOf({ id }: ShippedWire, key = VENDOR_KEY) {
  const file = shipped.get(id);
  if (!file) throw new Error(`no file of ${id}`);
  return vendorPort({ ...file, base_url: vendor.url }, key);
}

const answers = (json: object, status = 200): void => {
  vendor.reply = (response) => response.writeHead(status).end(JSON.stringify(atBase(json)));
};
const contextOf = ({ model }: ShippedWire) => ({
  upstreamModel: model,
  signal: AbortSignal.timeout(60_000),
});

describe.each(SHIPPED_WIRES.map((wire) => [wire.id, wire] as const))('%s', (_id, wire) => {
  const context = contextOf(wire);

  it('gets a job as its documents have it, and tells the id', async () => {
    answers(wire.accepted, 201);
    const job = await portOf(wire).submitVideo({ ...SEA, ...wire.command }, context);
    expect(job).toBe(atBase(wire.job));
    expect(vendor.only.method).toBe('POST');
    expect(vendor.only.url).toBe(wire.submit.url);
    expect(vendor.only.headers).toMatchObject(wire.headers);
    expect(sentBody(vendor.only)).toEqual(wire.submit.body);
  });

  it.each(wire.reads.map((read) => [JSON.stringify(read[0]), read] as const))(
    'that says %s of a job is understood',
    async (_text, [said, report, status]) => {
      answers(said, status);
      expect(await portOf(wire).readVideo(atBase(wire.job), context)).toMatchObject(report);
      expect([vendor.only.method, vendor.only.url]).toEqual(['GET', wire.readUrl]);
      expect(vendor.only.headers).toMatchObject(wire.headers);
    },
  );

  it('tells a finished job and where its video is', async () => {
    vendor.reply = (response, { url }) => {
      const isRead = url === wire.readUrl || !wire.result;
      response.end(JSON.stringify(atBase(isRead ? wire.finished : (wire.result ?? {}))));
    };
    const port = portOf(wire);
    const job = atBase(wire.job);
    expect(await port.readVideo(job, context)).toMatchObject({ state: 'succeeded' });
    expect(await port.openVideo(job, context)).toEqual({ redirectUrl: 'https://cdn.test/a.mp4' });
  });

  it('is asked to stop a job and to delete it only where its documents say how', async () => {
    const port = portOf(wire);
    expect([port.canCancel, port.canDelete]).toEqual([
      wire.cancel !== undefined,
      wire.delete !== undefined,
    ]);
    if (!wire.cancel) return;
    const [request, status] = wire.cancel;
    vendor.reply = (response, { method }) =>
      method === 'GET'
        ? response.end(JSON.stringify(atBase(wire.reads[0]?.[0] ?? {})))
        : response.writeHead(status).end();
    await port.cancelVideo?.(atBase(wire.job), context);
    const [read, ended] = vendor.seen.map(({ method, url }) => `${method} ${url}`);
    expect([read, ended]).toEqual([`GET ${wire.readUrl}`, request]);
    expect(vendor.seen.at(-1)?.headers).toMatchObject(wire.headers);
  });

  it('is asked for a lost job only where it knows our name of it or lists its jobs', async () => {
    const port = portOf(wire);
    expect(port.findsBy).toBe(wire.lookUp?.by);
    if (!wire.lookUp) return;
    const { url, found, others } = wire.lookUp;
    const find = () => port.findVideo?.({ ...SEA, ...wire.command }, context, MADE);
    answers(found);
    expect(await find()).toBe(wire.job);
    expect([vendor.only.method, vendor.only.url]).toEqual(['GET', url]);
    expect(vendor.only.headers).toMatchObject(wire.headers);
    for (const other of others) {
      answers(other);
      await expect(find()).rejects.toMatchObject({ kind: 'http_error' });
    }
    // No code is documented that means that there is no such job.
    for (const [status, json] of wire.errors) {
      answers(json, status);
      await expect(find()).rejects.toBeInstanceOf(Error);
    }
  });

  it('that says a word of its own keeps its job open, and the word is told', async () => {
    const odd = (said: unknown): unknown =>
      typeof said === 'string'
        ? said.replace(/^(COMPLETED|SUCCEEDED|succeeded|succeed|done)$/, 'pondering')
        : said !== null && typeof said === 'object'
          ? Object.fromEntries(Object.entries(said).map(([key, value]) => [key, odd(value)]))
          : said;
    answers(odd(wire.finished) as object);
    expect(await portOf(wire).readVideo(atBase(wire.job), context)).toMatchObject({
      state: 'pending',
      unknownState: 'pondering',
    });
  });

  it.each(
    wire.errors.map((error) => [error[2], error[0], JSON.stringify(error[1]), error] as const),
  )(
    'that refuses a job is told as %s: %s %s',
    async (kind, status, _text, [, json, , retryAfterSeconds]) => {
      answers(json, status);
      const submitting = portOf(wire).submitVideo({ ...SEA, ...wire.command }, context);
      await expect(submitting).rejects.toMatchObject(
        kind === 'refused_content'
          ? { kind: 'rejected', publicCode: 'content_policy_violation' }
          : { kind, isContentRefusal: false, retryAfterSeconds },
      );
    },
  );
});

describe('the shipped files', () => {
  it('of videos are each played here, but for the one of the guide', () => {
    const folder = fileURLToPath(new URL('../../../vendors/', import.meta.url));
    const others = ['luma.json', 'vendor.schema.json'];
    const isOfVideos = (name: string): boolean =>
      shipped.get(name.replace('.json', ''))?.operation === undefined;
    const files = readdirSync(folder).filter((name) => !others.includes(name) && isOfVideos(name));
    expect(files.toSorted()).toEqual(SHIPPED_WIRES.map(({ id }) => `${id}.json`).toSorted());
  });

  it('send a key of Kling that has one part as a bearer', async () => {
    const wire = SHIPPED_WIRES.find(({ id }) => id === 'kling');
    if (!wire) throw new Error('no Kling');
    answers(wire.accepted);
    await portOf(wire, 'key-of-a-new-account').submitVideo(SEA, contextOf(wire));
    expect(vendor.only.headers.authorization).toBe('Bearer key-of-a-new-account');
  });

  it('sign the token of Kling with the second part of the key, for half an hour', async () => {
    const wire = SHIPPED_WIRES.find(({ id }) => id === 'kling');
    if (!wire) throw new Error('no Kling');
    answers(wire.accepted);
    await portOf(wire).submitVideo(SEA, contextOf(wire));
    expect(vendor.only.url).toBe('/v1/videos/text2video');
    const [head = '', claims = '', signature] =
      vendor.only.headers.authorization?.replace('Bearer ', '').split('.') ?? [];
    const [access, secret = ''] = VENDOR_KEY.split(':');
    const expected = createHmac('sha256', secret).update(`${head}.${claims}`).digest('base64url');
    expect(signature).toBe(expected);
    const told = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, number>;
    const nowSeconds = Date.now() / 1000;
    expect(told.iss).toBe(access);
    expect((told.exp ?? 0) - nowSeconds).toBeGreaterThan(1_700);
    expect((told.exp ?? 0) - nowSeconds).toBeLessThan(1_900);
    expect(told.nbf ?? Infinity).toBeLessThanOrEqual(nowSeconds);
  });
});
