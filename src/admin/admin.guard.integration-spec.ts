import { describe, expect, it } from '@jest/globals';
import type { ExecutionContext } from '@nestjs/common';
import { SystemClock } from '../common/time/clock.js';
import type { GatewayConfig } from '../platform/config/gateway-config.js';
import { Reflector } from '@nestjs/core';
import { OperatorToken } from '../auth/operators/operator-token.js';
import { AdminGuard } from './admin.guard.js';

/** What the guard asks of a request. */
const contextOf = (authorization: string): ExecutionContext => {
  const request = { headers: { authorization }, ip: '203.0.113.7' };
  const http = { getRequest: () => request };
  return { switchToHttp: () => http } as unknown as ExecutionContext;
};

describe('AdminGuard', () => {
  it.each([
    [1, 10],
    [2, 5],
    [4, 3],
  ])('of one of %i workers lets an address guess %i times per minute', (workers, guesses) => {
    const config = { adminToken: 'the-right-token-1234', workers } as GatewayConfig;
    const clock = new SystemClock();
    const guard = new AdminGuard(new OperatorToken(config, clock), new Reflector(), clock);
    const guess = () => guard.canActivate(contextOf('Bearer a-wrong-token-12345'));
    for (let guessed = 0; guessed < guesses; guessed++) expect(guess).toThrow('missing or wrong');
    expect(guess).toThrow('too many wrong');
  });
});
