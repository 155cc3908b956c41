import { createHash } from 'node:crypto';
import type { GatewayConfig } from '../../platform/config/gateway-config.js';

/** This much of a hash is enough to tell tokens apart. */
const ACTOR_DIGITS = 12;

const fingerprint = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, ACTOR_DIGITS);

/** What vouches for operators at present: the name of each in the record of actions. Undefined: it is not set up. */
export interface OperatorActors {
  readonly token: string | undefined;
  readonly oidc: string | undefined;
}

/** The actors of the present settings. A changed `ADMIN_TOKEN` is another actor, and so is a changed setting of OIDC. */
export function operatorActorsOf(config: GatewayConfig): OperatorActors {
  const { adminToken, oidcIssuer, oidcClientId, oidcRoles } = config;
  const oidc = JSON.stringify([oidcIssuer, oidcClientId, oidcRoles]);
  return {
    token: adminToken === undefined ? undefined : fingerprint(adminToken),
    oidc: oidcIssuer === undefined ? undefined : fingerprint(oidc),
  };
}
