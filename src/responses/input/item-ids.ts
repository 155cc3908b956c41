import { Inject, Injectable } from '@nestjs/common';
import { canonicalJson, type JsonObject } from '../../common/json-object.js';
import { KeyedDigest } from '../../common/secrets/keyed-digest.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { Clock } from '../../common/time/clock.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/config/gateway-config.js';
import { uuidOf } from '../../stored-responses/response-ids.js';

const UUID_DIGITS = 32;

/**
 * The ids of items. An item of an input has an id that follows from its content, so that a client that sends the whole
 * conversation with each turn does not make the gateway store it again (decision G-108).
 */
@Injectable()
export class ItemIds {
  private readonly digest: KeyedDigest | undefined;

  constructor(
    @Inject(GATEWAY_CONFIG) { secretKeys = [] }: Pick<GatewayConfig, 'secretKeys'>,
    private readonly clock: Clock,
  ) {
    this.digest = secretKeys.length > 0 ? new KeyedDigest(secretKeys, 'response item') : undefined;
  }

  /** The id of a new item of an answer; a UUID. */
  fresh(): string {
    return uuidV7(this.clock.nowMs());
  }

  /** Gives ids to the items of one input, none of which is among those that are taken: equal items get different ones. */
  ofInput(accountId: string, taken: Iterable<string>): (item: JsonObject) => string {
    const used = new Set(taken);
    return (item) => {
      const text = canonicalJson(item);
      for (let position = 0; ; position += 1) {
        const id = this.ofText(`${accountId} ${position} ${text}`);
        if (used.has(id)) continue;
        used.add(id);
        return id;
      }
    };
  }

  private ofText(text: string): string {
    const [digest] = this.digest?.of(text) ?? [];
    return digest ? uuidOf(digest.toString('hex').slice(0, UUID_DIGITS)) : this.fresh();
  }
}
