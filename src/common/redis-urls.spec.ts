import { describe, expect, it } from '@jest/globals';
import { redisServersOf } from './redis-urls.js';

const hostsOf = (url: string) => redisServersOf(url).hosts.map(({ host, port }) => [host, port]);

describe('REDIS_URL', () => {
  it.each<[string, (string | number)[][]]>([
    ['redis://cache', [['cache', 6379]]],
    ['redis://[::1]:6380/2', [['::1', 6380]]],
    ['rediss://u:p%40ss@cache:80', [['cache', 80]]],
    [
      'redis+sentinel://a,[fd00::2]:26380/limits/1',
      [
        ['a', 26379],
        ['fd00::2', 26380],
      ],
    ],
    [
      'redis+cluster://a:7000,b:7001',
      [
        ['a', 7000],
        ['b', 7001],
      ],
    ],
  ])('of %s names its servers', (url, hosts) => {
    expect(hostsOf(url)).toEqual(hosts);
  });

  it('has the password decoded, and that of the sentinels apart', () => {
    expect(
      redisServersOf('redis+sentinel://u:p%40ss@a/limits?sentinelPassword=s%3D1'),
    ).toMatchObject({
      username: 'u',
      password: 'p@ss',
      sentinelPassword: 's=1',
      service: 'limits',
    });
  });
});
