import { createRequire } from 'node:module';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { toPublicId } from '../../common/ids/public-id.js';
import { GatewayUrl } from '../../platform/http-client/gateway-url.js';
import type { ContentLinks } from './content-links.js';

const [OLD, NEW] = ['the-old-key-0123456789-0123456789', 'the-new-key-0123456789-0123456789'];
const TASK = { id: '0190a6a0-7c8b-7c6d-8f3b-2a1c0d9e8f7a' };
const ID = toPublicId('task', TASK.id);
const NOW = 1_800_000_000;
const TTL = 3_600;

const crypto = createRequire(import.meta.url)('node:crypto') as {
  timingSafeEqual: (one: Buffer, other: Buffer) => boolean;
};
const { timingSafeEqual } = crypto;
let compared: number;
let linksOf: (secretKeys: readonly string[], nowSeconds?: number) => ContentLinks;

beforeAll(async () => {
  // Before the class is loaded, which then takes this function for Node's own.
  crypto.timingSafeEqual = (one, other) => {
    compared += 1;
    return timingSafeEqual(one, other);
  };
  const { ContentLinks: Links } = await import('./content-links.js');
  const gatewayUrl = new GatewayUrl('https://gw.example/shim/', { host: '127.0.0.1', port: 1 });
  linksOf = (secretKeys, nowSeconds = NOW) => {
    const clock = { nowMs: () => nowSeconds * 1_000, nowSeconds: () => nowSeconds };
    return new Links({ secretKeys, contentLinkTtlSeconds: TTL }, gatewayUrl, clock);
  };
});
beforeEach(() => {
  compared = 0;
});
afterAll(() => {
  crypto.timingSafeEqual = timingSafeEqual;
});

/** The texts of a link that expires at the end of {@link TTL}. */
function sentBy(links: ContentLinks): [string, string, string] {
  const { url } = links.temporary(TASK, { surface: 'videos', expiresAt: NOW + 2 * TTL });
  const { pathname, searchParams } = new URL(url);
  expect(pathname).toBe(`/shim/v1/videos/${ID}/content`);
  return [ID, searchParams.get('expires') ?? '', searchParams.get('signature') ?? ''];
}

describe('a link to a file', () => {
  it('is the same text each time and valid until it expires', () => {
    const links = linksOf([NEW]);
    const sent = sentBy(links);
    expect(sentBy(links)).toEqual(sent);
    expect(sent[1]).toBe(String(NOW + TTL));
    expect(linksOf([NEW], NOW + TTL - 1).isGood(...sent)).toBe(true);
    expect(linksOf([NEW], NOW + TTL).isGood(...sent)).toBe(false);
  });

  it('expires with its file if that is earlier', () => {
    const link = linksOf([NEW]).temporary(TASK, { surface: 'tasks', expiresAt: NOW + 5 });
    expect(link.expires_at).toBe(NOW + 5);
    expect(link.url).toContain(`expires=${NOW + 5}&`);
  });

  it('is signed with the first key and valid with every key of the list, each compared once', () => {
    const sent = sentBy(linksOf([OLD]));
    expect(sentBy(linksOf([NEW, OLD]))).not.toEqual(sent);
    expect(linksOf([NEW, OLD]).isGood(...sent)).toBe(true);
    expect(compared).toBe(2);
    expect(linksOf([NEW]).isGood(...sent)).toBe(false);
    expect(compared).toBe(3);
  });

  it('is invalid when any of its parts was changed', () => {
    const links = linksOf([NEW]);
    const [id, expires, signature] = sentBy(links);
    const flipped = (signature.startsWith('0') ? '1' : '0') + signature.slice(1);
    const wrongs: [string, unknown, unknown][] = [
      [id.replace(/.$/, (end) => (end === '0' ? '1' : '0')), expires, signature],
      [id, String(Number(expires) + 1), signature],
      [id, `0${expires}`, signature],
      [id, `${expires} `, signature],
      [id, [expires], signature],
      [id, expires, flipped],
      [id, expires, signature.toUpperCase()],
      [id, expires, signature.slice(0, -1)],
      [id, expires, `${signature}0`],
      [id, expires, ''],
      [id, expires, undefined],
      [id, undefined, signature],
      [id, expires, [signature]],
    ];
    for (const wrong of wrongs) expect([wrong, links.isGood(...wrong)]).toEqual([wrong, false]);
    expect(links.isGood(id, expires, signature)).toBe(true);
  });
});
