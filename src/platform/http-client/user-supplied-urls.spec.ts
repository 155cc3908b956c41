import { describe, expect, it } from '@jest/globals';
import { EgressRules } from './egress-rules.js';
import { SsrfSafeDialer } from './ssrf-safe-dialer.js';
import { UserSuppliedUrls } from './user-supplied-urls.js';
import { SandboxFiles } from './sandbox-files.js';

const NAMES: Readonly<Record<string, readonly string[]>> = {
  'public.example': ['93.184.216.34'],
  'inside.example': ['10.0.0.7'],
  'mixed.example': ['93.184.216.34', '127.0.0.1'],
};
const OWN = 'http://127.0.0.1:3000/sandbox/media/a.png';

class OneFile extends SandboxFiles {
  fileAt = (url: URL): URL | undefined => (url.href === OWN ? url : undefined);
  read = (): Promise<never> => Promise.reject(new Error('nothing is read'));

  override rejectionOf(): undefined {
    return undefined;
  }
}

const rules = EgressRules.parse('10.0.0.9');
const dialer = new SsrfSafeDialer({
  rules,
  resolve: (name) => {
    const answers = NAMES[name];
    return answers ? Promise.resolve([...answers]) : Promise.reject(new Error('ENOTFOUND'));
  },
  dial: () => {
    throw new Error('nothing is dialed');
  },
});
const urls = new UserSuppliedUrls(dialer, { rules }, new OneFile());

describe('a URL that a provider is to fetch', () => {
  it.each([
    'https://public.example/a.png',
    'http://public.example:8080/a.png?x=1',
    'http://10.0.0.9/a.png',
    OWN,
  ])('%s passes', async (url) => {
    expect(urls.rejectionOf(url)).toBeUndefined();
    expect(await urls.hostOf(url)).toBe('public');
  });

  it.each([
    'ftp://public.example/a.png',
    'data:image/png;base64,AAAA',
    'http://localhost/a.png',
    'http://10.0.0.7/a.png',
    'http://[::1]/a.png',
    'http://0x7f.1/a.png',
    'http://127.0.0.1:3000/sandbox/media/b.png',
    'no url',
  ])('%s is refused by its text', async (url) => {
    expect(urls.rejectionOf(url)).toMatch(/^must /);
    expect(await urls.hostOf(url)).toBe('private');
  });

  it.each([
    ['inside.example', 'private'],
    ['mixed.example', 'private'],
    ['nowhere.example', 'unknown'],
  ])('the name %s is %s', async (name, verdict) => {
    expect(urls.rejectionOf(`https://${name}/a.png`)).toBeUndefined();
    expect(await urls.hostOf(`https://${name}/a.png`)).toBe(verdict);
  });
});
