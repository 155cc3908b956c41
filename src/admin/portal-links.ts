import { Inject, Injectable } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import type { Scope } from '../auth/scope.js';
import { PortalLinks } from '../auth/sessions/portal-links.js';
import { Accounts } from '../billing/accounts/accounts.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { pathId } from '../common/ids/id-params.js';
import { toEpochSeconds } from '../common/time/clock.js';
import { Enum } from '../common/validation/fields.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/config/gateway-config.js';
import { GatewayUrl } from '../platform/http-client/gateway-url.js';

/** What a session of a link may do. To call or to make keys it needs an API key. */
const PORTAL_SCOPES = ['read'] as const satisfies readonly Scope[];

/** Body of POST /admin/accounts/{id}/portal-links. */
export class PortalLinkBody {
  @Enum(PORTAL_SCOPES, {
    optional: true,
    list: { min: 1, max: PORTAL_SCOPES.length },
    description: 'What the session may do: `read` only. Absent: read',
  })
  scopes?: 'read'[];
}

/** A link that lets a customer in. */
export class PortalLinkView {
  @ApiProperty({ enum: ['portal_link'], description: 'Says what kind of object this is' })
  object!: 'portal_link';

  @ApiProperty({
    example: 'https://gateway.example/console/#portal=Zb0nV8m2Qk1xT5rYw7uPq3sLd9eHf4jGc6aNi0oKt1E',
    description: 'Opens a session of the account once. It is shown only here',
  })
  url!: string;

  @ApiProperty({ enum: PORTAL_SCOPES, isArray: true, description: 'What the session may do' })
  scopes!: readonly string[];

  @ApiProperty({ description: 'Epoch seconds: until when the link can be used' })
  expires_at!: number;
}

/** Links to the console for customers, for both the API and the command line. */
@Injectable()
export class OperatorPortalLinks {
  constructor(
    private readonly accounts: Accounts,
    private readonly links: PortalLinks,
    private readonly gateway: GatewayUrl,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'console'>,
  ) {}

  /** Throws 404 for an unknown account, 409 `conflict` where there is no console. */
  async make(id: string, { scopes = ['read'] }: PortalLinkBody): Promise<PortalLinkView> {
    const account = await this.accounts.get(pathId('acct', id));
    if (this.config.console === 'off') {
      throw new GatewayError('conflict', 'There is no console: CONSOLE is off.');
    }
    const { secret, expiresAt } = await this.links.make(account.id);
    return {
      object: 'portal_link',
      // What follows # is sent to no server, so it is in no log.
      url: `${this.gateway.href}/console/#portal=${secret}`,
      scopes,
      expires_at: toEpochSeconds(expiresAt),
    };
  }
}
