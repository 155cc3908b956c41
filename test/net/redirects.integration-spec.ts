import { afterEach, describe, expect, it } from '@jest/globals';
import { BoundedDownload } from '../../src/platform/http-client/bounded-download.js';
import { EgressRules } from '../../src/platform/http-client/egress-rules.js';
import { answer, type RawAnswer, StubWeb } from '../support/stub-web.js';

const START = 'http://example.com/start';
const PUBLIC = '93.184.216.34:80';
const FAILED = { code: 'audio_download_failed', param: 'audio_url' };

describe('redirects and names', () => {
  let web: StubWeb;
  afterEach(() => web.stop());

  async function fetchFrom(raw: RawAnswer, url = START): Promise<string> {
    web = await StubWeb.start(raw);
    return fetchAgain(url);
  }

  async function fetchAgain(url = START): Promise<string> {
    const downloads = new BoundedDownload(web.dialer(), { rules: EgressRules.none });
    const { data } = await downloads.toBytes(url, { limitBytes: 1_000, param: 'audio_url' });
    return data.toString();
  }

  /** `/start` redirects to `location`; every other path answers sound. */
  const leadingTo =
    (...locations: string[]): RawAnswer =>
    (socket, head) => {
      const isStart = head.startsWith('GET /start ');
      const headers = locations.map((location) => `Location: ${location}`);
      socket.end(isStart ? answer(302, headers) : answer(200, [], 'sound'));
    };

  it.each([
    ['R01 loopback', 'http://127.0.0.1/'],
    ['R02 IPv6 loopback', 'http://[::1]/'],
    ['R03 metadata', 'http://169.254.169.254/latest/meta-data/'],
    ['R04 a decimal address', 'http://2130706433/'],
    ['R05 metadata without a scheme', '//169.254.169.254/'],
    ['R10 a file', 'file:///etc/passwd'],
    ['R11 a database port', 'http://93.184.216.34:6379/'],
    ['a private name', 'http://localhost/'],
    ['a user name', 'http://user@example.com/'],
    ['a backslash', '\\\\127.0.0.1\\'],
  ])('are refused when they lead to %s (AUD-45, G-43)', async (_, location) => {
    await expect(fetchFrom(leadingTo(location))).rejects.toMatchObject(FAILED);
    expect(web.dials).toEqual([PUBLIC]);
  });

  it('are followed when they are relative, R06', async () => {
    await expect(fetchFrom(leadingTo('/sound.mp3?a=1#b'))).resolves.toBe('sound');
    expect(web.heads[1]).toMatch(/^GET \/sound\.mp3\?a=1 HTTP\/1\.1\r\nhost: example\.com\r\n/i);
  });

  it('are followed from http to https with a checked certificate', async () => {
    await expect(fetchFrom(leadingTo('https://example.com/sound'))).resolves.toBe('sound');
    expect(web.dials).toEqual([PUBLIC, '93.184.216.34:443']);
  });

  it('are refused from https to http, R07', async () => {
    const fetched = fetchFrom(leadingTo('http://example.com/sound'), 'https://example.com/start');
    await expect(fetched).rejects.toMatchObject(FAILED);
    expect(web.dials).toEqual(['93.184.216.34:443']);
  });

  it.each([
    [5, 'are followed five times'],
    [6, 'are not followed a sixth time, R08'],
  ])('%i: %s', async (hops) => {
    const fetched = fetchFrom((socket, head) => {
      const left = Number(/^GET \/(\d+)/.exec(head)?.[1]);
      socket.end(left > 0 ? answer(302, [`Location: /${left - 1}`]) : answer(200, [], 'sound'));
    }, `http://example.com/${hops}`);
    if (hops === 5) await expect(fetched).resolves.toBe('sound');
    else await expect(fetched).rejects.toMatchObject(FAILED);
    expect(web.dials).toHaveLength(6);
  });

  it('end when they go in circles, R09', async () => {
    await expect(fetchFrom(leadingTo('/start'))).rejects.toMatchObject(FAILED);
    expect(web.dials).toHaveLength(6);
  });

  it('are refused with two targets, R12', async () => {
    const fetched = fetchFrom(leadingTo('/sound', 'http://127.0.0.1/'));
    await expect(fetched).rejects.toMatchObject(FAILED);
    expect(web.dials).toEqual([PUBLIC]);
  });

  it.each(['/sound\r\nHost: 127.0.0.1', '/sound\rX: y', 'http://example.com/\u0001', '/so und'])(
    'carry nothing over from a target with control characters, R13: %j',
    async (location) => {
      await fetchFrom(leadingTo(location)).catch((error: unknown) => {
        expect(error).toMatchObject(FAILED);
      });
      expect(web.heads.every((head) => /\r\nhost: example\.com\r\n/i.test(head))).toBe(true);
      expect(web.heads.join('')).not.toContain('127.0.0.1');
    },
  );

  it('are not read from a Refresh header or from HTML, R14', async () => {
    const html = '<meta http-equiv="refresh" content="0;url=http://127.0.0.1/">';
    const fetched = fetchFrom((socket) =>
      socket.end(answer(200, ['Refresh: 0; url=http://127.0.0.1/'], html)),
    );
    await expect(fetched).resolves.toBe(html);
    expect(web.dials).toEqual([PUBLIC]);
  });

  it('carry no credentials, cookies or referrer to the next host', async () => {
    const fetched = fetchFrom((socket, head) => {
      const headers = ['Set-Cookie: a=b', 'Location: http://93.184.216.34/sound'];
      socket.end(head.startsWith('GET /start') ? answer(302, headers) : answer(200, [], 'sound'));
    });
    await expect(fetched).resolves.toBe('sound');
    expect(web.heads[1]).not.toMatch(/cookie|authorization|referer/i);
  });

  it('give up when the far end is not the address that was checked, R15 (AUD-45)', async () => {
    web = await StubWeb.start((socket) => socket.end(answer(200, [], 'secret')));
    web.reportedAddress = '127.0.0.1';
    await expect(fetchAgain()).rejects.toMatchObject(FAILED);
    expect(web.heads).toEqual([]);
  });

  it('are checked by a new resolution of the name, R16', async () => {
    web = await StubWeb.start(leadingTo('/sound'));
    const answers = [['93.184.216.34'], ['127.0.0.1']];
    web.names.set('example.com', () => answers.shift() ?? []);
    await expect(fetchAgain()).rejects.toMatchObject(FAILED);
    expect(web.dials).toEqual([PUBLIC]);
  });

  it.each([
    ['R17 a public IPv4 and a private IPv6 address', ['93.184.216.34', 'fd00::1']],
    ['R18 the private end of an alias chain', ['10.0.0.1']],
    ['R20 nothing', []],
    ['more answers than anyone needs', Array.from({ length: 17 }, (_, i) => `9.9.9.${i}`)],
  ])('fail without a connection when the name answers %s', async (_, answers) => {
    web = await StubWeb.start(leadingTo('/sound'));
    web.names.set('example.com', () => answers);
    await expect(fetchAgain()).rejects.toMatchObject(FAILED);
    expect(web.dials).toEqual([]);
  });

  it('reach no private address while a name alternates its answers, R19', async () => {
    web = await StubWeb.start(leadingTo('/sound'));
    let turn = 0;
    web.names.set('example.com', () => [(turn += 1) % 3 === 0 ? '127.0.0.1' : '93.184.216.34']);
    for (let i = 0; i < 60; i += 1) await fetchAgain().catch(() => undefined);
    expect(web.dials.length).toBeGreaterThan(50);
    expect(new Set(web.dials)).toEqual(new Set([PUBLIC]));
  });
});
