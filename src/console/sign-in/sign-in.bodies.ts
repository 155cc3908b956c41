import { Text } from '../../common/validation/fields.js';

const MAX_SECRET = 4_096;
const optional = { optional: true } as const;

/** Body of POST /console/session: exactly one of the fields. */
export class SignInBody {
  @Text({ min: 1, max: MAX_SECRET, ...optional, description: 'The admin token, for operators' })
  token?: string;

  @Text({ min: 1, max: MAX_SECRET, ...optional, description: 'An API key, for customers' })
  api_key?: string;

  @Text({ min: 1, max: MAX_SECRET, ...optional, description: 'The secret of a portal link' })
  portal?: string;
}

/** Body of POST /console/session/portal. */
export class PortalBody {
  @Text({ min: 1, max: MAX_SECRET, description: 'The secret of a portal link' })
  portal!: string;
}

/** Body of POST /console/session/proof. */
export class ProofBody {
  @Text({ min: 1, max: MAX_SECRET, description: 'The admin token' })
  token!: string;
}
