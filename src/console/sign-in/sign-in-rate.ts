import { Inject, Injectable } from '@nestjs/common';
import { TOKEN_BUCKETS } from '../../auth/rate-limit/rate-limit.guard.js';
import type { TokenBuckets } from '../../auth/rate-limit/token-bucket.js';
import { holderName, type SessionHolder } from '../../auth/sessions/console-session.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { ipPrefixOf } from '../../platform/http-server/client-limits/connections-per-ip.js';

/** What an address may send with good secrets; wrong ones are counted as guesses. Many people may come through one address. */
export const SIGN_INS_PER_ADDRESS = 120;
/** Sessions that one key, person, account or token may open. */
export const SIGN_INS_PER_HOLDER = 60;

/** Bounds per minute how often somebody signs in, because each time writes to the database. */
@Injectable()
export class SignInRate {
  constructor(@Inject(TOKEN_BUCKETS) private readonly buckets: TokenBuckets) {}

  /** Once the secret proved good, so that nobody without one can lock out others of the address. Throws 429 `rate_limit_exceeded`. */
  async countAddress(address: string | undefined): Promise<void> {
    const bucket = `sign-in:address:${ipPrefixOf(address)}`;
    await this.take(bucket, SIGN_INS_PER_ADDRESS, 'Your address');
  }

  /** Before a session is written. Throws 429 `rate_limit_exceeded`. */
  async countHolder(holder: SessionHolder): Promise<void> {
    await this.take(`sign-in:${holderName(holder)}`, SIGN_INS_PER_HOLDER, 'You');
  }

  private async take(bucket: string, perMinute: number, who: string): Promise<void> {
    const { allowed, retryAfterMs } = await this.buckets.take(bucket, perMinute);
    if (allowed) return;
    const retryAfterSeconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
    const message = `${who} may sign in ${perMinute} times a minute. Try again in ${retryAfterSeconds} s.`;
    throw new GatewayError('rate_limit_exceeded', message, { retryAfterSeconds });
  }
}
