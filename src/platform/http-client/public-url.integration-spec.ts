import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EgressRules } from './egress-rules.js';
import { hostOf, validatePublicUrl, type UrlPolicy } from './public-url.js';
import { isPublicAddress } from './public-address.js';

const strict: UrlPolicy = { rules: EgressRules.none };
const opened: UrlPolicy = {
  rules: EgressRules.parse('127.0.0.1:9000,receiver,10.0.0.0/8:22'),
  ownUrls: [new URL('https://shim.example'), new URL('http://127.0.0.1:3000')],
  isHttpsOnly: true,
};

function judge(value: unknown, policy = strict): string {
  const verdict = validatePublicUrl(value, policy);
  return 'url' in verdict ? verdict.url.href : verdict.rejection;
}

describe('validatePublicUrl', () => {
  it.each([
    42,
    null,
    undefined,
    {},
    ['http://example.com'],
    '',
    'not a url',
    'ftp://example.com/a',
    'file:///etc/passwd',
    'data:audio/wav;base64,UklGRg==',
    'http:example.com',
    ' http://example.com/',
    'http://example.com/a b',
    'http://example.com/\u0000',
    'http://example.com\\a',
    'http://',
    `http://example.com/${'a'.repeat(4_096)}`,
  ])('refuses %j as no web URL (AUD-43)', (value) => {
    expect(judge(value)).toBe('must be an http or https URL');
  });

  it.each(['http://a@example.com/', 'http://a:b@example.com/', 'http://@example.com/'])(
    'refuses user information in %s',
    (url) => {
      expect(judge(url)).toBe('must not carry a user name or password');
    },
  );

  it.each([
    'http://127.0.0.1/',
    'http://[::1]/',
    'http://localhost/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://intranet/',
    'http://printer.local/',
    'http://db.internal./',
    'http://nas.home.arpa/',
    'http://a..example.com/',
    `http://${'a.'.repeat(130)}com/`,
  ])('refuses the private host of %s (AUD-44)', (url) => {
    expect(judge(url)).toBe('must point at a public host');
  });

  it.each([0, 22, 25, 1023, 3306, 6379, 27017])('refuses port %i', (port) => {
    expect(judge(`http://example.com:${port}/`)).toBe('must use a port that serves public media');
  });

  it.each([
    ['http://example.com/a.mp3?x=1', 'http://example.com/a.mp3?x=1'],
    ['HTTPS://EXAMPLE.com:443', 'https://example.com/'],
    ['http://example.com./a', 'http://example.com/a'],
    ['http://example.com:8080/', 'http://example.com:8080/'],
    ['http://bücher.example/', 'http://xn--bcher-kva.example/'],
    ['http://example.com/@a:b', 'http://example.com/@a:b'],
  ])('accepts %s (AUD-42)', (url, href) => {
    expect(judge(url)).toBe(href);
  });

  it('permits only the host and port that the operator named, over http too', () => {
    expect(judge('http://127.0.0.1:9000/a', opened)).toBe('http://127.0.0.1:9000/a');
    expect(judge('http://receiver/', opened)).toBe('http://receiver/');
    expect(judge('https://10.1.2.3:22/', opened)).toBe('https://10.1.2.3:22/');
    expect(judge('https://127.0.0.1:9001/', opened)).toMatch(/^must/);
    expect(judge('http://example.com/', opened)).toBe('must be an https URL');
    expect(judge('https://example.com/', opened)).toBe('https://example.com/');
  });

  it.each([
    'https://shim.example/v1',
    'https://SHIM.example.:8443/',
    'http://127.0.0.1:3000/',
    'https://127.0.0.1/',
  ])('refuses the address of the service itself, %s', (url) => {
    expect(judge(url, opened)).toBe('must not point at the host of this service');
  });

  it('rejects its own origin even if a rule permits its host', () => {
    const rules = EgressRules.parse('127.0.0.1');
    const policy = { rules, ownUrls: [new URL('http://127.0.0.1:3000')] };
    expect(judge('http://127.0.0.1:3000/', policy)).toBe(
      'must not point at the host of this service',
    );
    expect(judge('http://127.0.0.1:9000/', policy)).toBe('http://127.0.0.1:9000/');
  });

  it('never accepts a private literal, whatever surrounds it', () => {
    const host = fc.oneof(
      fc.ipV4Extended(),
      fc.ipV6().map((address) => `[${address}]`),
      fc.nat(0xffffffff).map(String),
    );
    fc.assert(
      fc.property(fc.webPath(), host, (path, literal) => {
        const verdict = validatePublicUrl(`http://${literal}${path}`, strict);
        return !('url' in verdict) || isPublicAddress(hostOf(verdict.url));
      }),
    );
  });
});
