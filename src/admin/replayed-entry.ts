import { applyDecorators } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse } from '@nestjs/swagger';
import type { LedgerEntry } from '../billing/ledger-entry.js';
import { LedgerEntryView, viewEntry } from './views/ledger-entry.view.js';

/** Says that an entry had been made before by a request with the same Idempotency-Key. */
export const REPLAYED_HEADER = 'x-gateway-replayed';

/** Documents both answers of an endpoint that makes an entry once for each Idempotency-Key. */
export function EntryResponses(): MethodDecorator {
  return applyDecorators(
    ApiCreatedResponse({ type: LedgerEntryView, description: 'The entry, made now' }),
    ApiOkResponse({
      type: LedgerEntryView,
      description:
        'The entry that an earlier request with this Idempotency-Key made. No money moved now',
      headers: {
        [REPLAYED_HEADER]: {
          description: 'Tells this answer from that of a request that moved money',
          schema: { type: 'string', enum: ['true'] },
        },
      },
    }),
  );
}

/** The entry; where it was not made now, with status 200 and the header. */
export function answerEntry(
  entry: LedgerEntry,
  response: {
    status(code: number): { setHeader(name: string, value: string): unknown };
  },
): LedgerEntryView {
  if (entry.isReplay === true) response.status(200).setHeader(REPLAYED_HEADER, 'true');
  return viewEntry(entry);
}
