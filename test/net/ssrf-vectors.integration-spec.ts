import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { BoundedDownload } from '../../src/platform/http-client/bounded-download.js';
import { EgressRules } from '../../src/platform/http-client/egress-rules.js';
import { validatePublicUrl } from '../../src/platform/http-client/public-url.js';
import { answer, StubWeb } from '../support/stub-web.js';

interface Vector {
  readonly id: string;
  readonly url: string;
  /** Answers of the resolver; null if there is no name. */
  readonly dns: readonly string[] | null;
  readonly expect: 'allow' | 'deny';
  readonly note: string;
}

const vectors = JSON.parse(
  readFileSync(new URL('ssrf-vectors.json', import.meta.url), 'utf8'),
) as Vector[];
const denied = vectors.filter((vector) => vector.expect === 'deny');
const allowed = vectors.filter((vector) => vector.expect === 'allow');
const policy = { rules: EgressRules.none };
const title = ({ id, note, url }: Vector): [string, Vector] => [
  `${id} ${note}: ${JSON.stringify(url)}`,
  { id, note, url } as Vector,
];

describe('request forgery vectors', () => {
  let web: StubWeb;
  let downloads: BoundedDownload;
  let answers: readonly string[] = [];

  beforeAll(async () => {
    web = await StubWeb.start((socket) => socket.end(answer(200, [], 'sound')));
    web.names.get = () => () => answers;
    downloads = new BoundedDownload(web.dialer(), policy);
  });
  afterAll(() => web.stop());

  const download = (vector: Vector) => {
    answers = vectors.find(({ id }) => id === vector.id)?.dns ?? [];
    web.dials.length = 0;
    return downloads.toBytes(vector.url, { limitBytes: 100, param: 'audio_url' });
  };

  it('are complete', () => {
    expect([denied.length, allowed.length]).toEqual([158, 18]);
  });

  it.each(denied.map(title))('refuses without a connection %s (AUD-44)', async (_, vector) => {
    const isTextual = 'rejection' in validatePublicUrl(vector.url, policy);
    await expect(download(vector)).rejects.toMatchObject({
      code: isTextual ? 'invalid_request' : 'audio_download_failed',
      param: 'audio_url',
    });
    expect(web.dials).toEqual([]);
  });

  it('are refused by their text alone unless a public-looking name resolves to a private address', () => {
    const byName = denied.filter(({ url }) => 'url' in validatePublicUrl(url, policy));
    expect(byName.map(({ id }) => id)).toEqual([
      'S145',
      'S146',
      'S147',
      'S148',
      'S149',
      'S150',
      'S151',
      'S152',
      'S153',
      'S154',
      'S155',
    ]);
  });

  it.each(allowed.map(title))('downloads %s (AUD-42)', async (_, vector) => {
    const { data } = await download(vector);
    expect(data.toString()).toBe('sound');
    expect(web.dials).toHaveLength(1);
  });
});
