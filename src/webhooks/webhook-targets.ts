import { Injectable } from '@nestjs/common';
import { GatewayError } from '../common/errors/gateway-error.js';
import { SURFACE_CODES, type Surface } from '../common/errors/surface.js';
import { Deadline } from '../net/deadline.js';
import { EgressRules } from '../net/egress-rules.js';
import { AddressRefusedError, GuardedDialer } from '../net/guarded-dialer.js';
import { OwnUrl } from '../net/own-url.js';
import { judgePublicUrl } from '../net/public-url.js';

/** A submission waits this long for the receiver's name; an unresolved name is the delivery's problem. */
const RESOLVE_MS = 3_000;

/** A URL that was taken at submission is refused by the present settings. */
export class TargetRefusedError extends Error {
  override readonly name = 'TargetRefusedError';
}

/** Says where webhooks may go, when a task is submitted (spec: Events; decision G-80). */
@Injectable()
export class WebhookTargets {
  constructor(
    private readonly dialer: GuardedDialer,
    private readonly rules: EgressRules,
    private readonly own: OwnUrl,
  ) {}

  /**
   * What the text of a webhook's URL tells: scheme of the surface's rule set, own host, private address. Throws
   * `invalid_task_command` or, for videos, `invalid_request`, param `webhook`.
   */
  judge(url: string, surface: Surface): URL {
    const verdict = judgePublicUrl(url, {
      rules: this.rules,
      ownUrls: this.own.all,
      isHttpsOnly: surface !== 'video',
    });
    if ('refusal' in verdict) throw refused(surface, verdict.refusal);
    return verdict.url;
  }

  /** The URL of a delivery that was taken, judged again for what the settings say now. Throws TargetRefusedError. */
  again(url: string): URL {
    const verdict = judgePublicUrl(url, { rules: this.rules, ownUrls: this.own.all });
    if ('refusal' in verdict) throw new TargetRefusedError();
    return verdict.url;
  }

  /**
   * {@link judge}, then what its host resolves to. A name that does not resolve now is taken, for every attempt looks again.
   * Throws as `judge`.
   */
  async check(url: string, surface: Surface): Promise<void> {
    const target = this.judge(url, surface);
    const deadline = new Deadline(RESOLVE_MS);
    try {
      await this.dialer.addressesOf(target, deadline.signal);
    } catch (error) {
      if (error instanceof AddressRefusedError)
        throw refused(surface, 'must point at a public host');
    } finally {
      deadline.clear();
    }
  }
}

function refused(surface: Surface, refusal: string): GatewayError {
  const code = SURFACE_CODES[surface].invalidWebhook;
  return new GatewayError(code, `webhook ${refusal}.`, { param: 'webhook' });
}
