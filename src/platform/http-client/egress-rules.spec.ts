import { describe, expect, it } from '@jest/globals';
import { EgressRules } from './egress-rules.js';

describe('EgressRules', () => {
  it.each([
    ['127.0.0.1:9000', '127.0.0.1', 9000, true],
    ['127.0.0.1:9000', '127.0.0.1', 9001, false],
    ['127.0.0.1:9000', '127.0.0.2', 9000, false],
    ['127.0.0.1:9000', 'localhost', 9000, false],
    ['127.0.0.1', '127.0.0.1', 22, true],
    ['10.0.0.0/8', '10.255.0.1', 80, true],
    ['10.0.0.0/8', '11.0.0.1', 80, false],
    ['10.0.0.0/8:8080', '10.1.1.1', 80, false],
    ['::1', '::1', 80, true],
    ['[::1]:9000', '::1', 9000, true],
    ['[::1]:9000', '::1', 80, false],
    ['[fd00::/8]:9000', 'fd12::1', 9000, true],
    ['fd00::/8', 'fe80::1%lo', 80, false],
    ['Receiver', 'receiver', 80, true],
    ['receiver:8080', 'receiver', 80, false],
    ['receiver', 'a.receiver', 80, false],
    [' a.test , ,b.test:1 ', 'b.test', 1, true],
    ['', '127.0.0.1', 80, false],
  ])('%j opens %s on port %i: %p', (text, host, port, isOpened) => {
    expect(EgressRules.parse(text).opens(host, port)).toBe(isOpened);
  });

  it('names every bad entry', () => {
    const bad = [
      'a b',
      '10.0.0.0/33',
      '::/129',
      'x:0',
      'x:65536',
      'x:y',
      'http://x',
      '*.x',
      '300.1.1.1',
      '127.1',
      'x/8',
      '[::1]9',
      'fe80::1%lo',
      ':80',
      'a.',
    ];
    expect(() => EgressRules.parse(`ok.test,${bad.join(',')}`)).toThrow(
      `not a host, ip or cidr with an optional port: ${bad.map((entry) => `"${entry}"`).join(', ')}`,
    );
  });

  it('reports whether it permits any private host', () => {
    expect([EgressRules.none.isEmpty, EgressRules.parse('a.test').isEmpty]).toEqual([true, false]);
  });
});
