import { GatewayError } from '../../../common/errors/gateway-error.js';
import { Enum } from '../../../common/validation/fields.js';

/** What a statement is asked as. */
export const STATEMENT_FORMATS = ['json', 'csv', 'html'] as const;
export type StatementFormat = (typeof STATEMENT_FORMATS)[number];

/** Query of a statement. */
export class StatementQuery {
  @Enum(STATEMENT_FORMATS, { default: 'json', description: 'JSON, CSV, or a page to print' })
  format!: StatementFormat;
}

/** Of the years 1970 to 9999. */
const MONTH = /^(19[7-9]\d|[2-9]\d{3})-(0[1-9]|1[0-2])$/;

/** A month of UTC. */
export interface Month {
  /** Such as 2026-11. */
  readonly text: string;
  /** Its first day, such as 2026-11-01. */
  readonly firstDay: string;
}

/** The month of a path. Throws 400 `invalid_request`. */
export function monthOf(text: string): Month {
  if (MONTH.test(text)) return { text, firstDay: `${text}-01` };
  const message = 'month must be a month of UTC such as 2026-11, of the years 1970 to 9999.';
  throw new GatewayError('invalid_request', message, { param: 'month' });
}
