import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../common/errors/gateway-error.js';
import { FileTooLargeError } from '../platform/storage/stored-file.js';
import { ProviderError } from '../providers/http/provider-error.js';
import { collectDelayMs, isWithoutFile, UnusableFileError } from './collect-failure.js';

const FIRST_MS = 5_000;
const answered = (upstreamStatus?: number): ProviderError =>
  new ProviderError('http_error', { provider: 'p', sent: true, upstreamStatus });

describe('the delays between attempts to download a file', () => {
  it('double up to one minute and end after ten minutes', () => {
    const waits: number[] = [];
    let triedForMs = 0;
    for (;;) {
      const delayMs = collectDelayMs(waits.length, triedForMs, FIRST_MS);
      if (delayMs === undefined) break;
      waits.push(delayMs);
      triedForMs += delayMs;
    }
    expect(waits.slice(0, 6)).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
    expect(triedForMs).toBeGreaterThanOrEqual(600_000);
    expect(triedForMs).toBeLessThan(660_000);
  });

  it('stay at one minute after many attempts', () => {
    expect(collectDelayMs(30_000, 1, FIRST_MS)).toBe(60_000);
  });
});

describe('isWithoutFile', () => {
  it.each<[string, unknown, boolean]>([
    ['an answer without media', answered(200), true],
    ['404', answered(404), true],
    ['an empty file', new UnusableFileError('empty'), true],
    ['a URL of it that is refused', new GatewayError('invalid_request', 'private'), true],
    ['more bytes than are kept', new FileTooLargeError(4_096), true],
    ['its size', new GatewayError('audio_too_large', 'too large'), true],
    ['a host that is away', new GatewayError('audio_download_failed', 'gone'), false],
    ['too many requests', answered(429), false],
    ['500', answered(500), false],
    ['503', answered(503), false],
    ['no answer', answered(), false],
    ['a full disk', new Error('ENOSPC'), false],
  ])('for %s returns %s', (_what, error, isNone) => {
    expect(isWithoutFile(error)).toBe(isNone);
  });
});
