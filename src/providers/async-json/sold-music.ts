import type { UpstreamTerms } from '../ports/attempt.js';
import { musicValuesOf } from './async-json-composition.adapter.js';
import type { Selling } from './row-check.js';
import type { VendorFile } from './vendor-file.js';
import { submitOf, untakenFields } from './vendor-submit.js';
import { fieldsIn, type VendorValues } from './vendor-template.js';

/** What a model of music sells over one route, as its row has it. */
export interface SoldMusic {
  readonly operation: 'composition';
  readonly upstreamModel: string;
  readonly terms?: UpstreamTerms | undefined;
  readonly price: { readonly unit: 'request' | 'requested_second' };
}

/** What callers may choose where the file takes it. */
const CHOICES = [
  { field: 'lyrics', choice: { lyrics: 'The sea' } },
  { field: 'instrumental', choice: { instrumental: true } },
] as const;

/** What callers may ask of the model, and what they pay for. A call with what the file does not take is refused when it comes. */
export function sellingOfMusic(vendor: VendorFile, row: SoldMusic): Selling {
  const { terms } = row;
  const isBySecond = row.price.unit === 'requested_second';
  const usual = { prompt: 'The sea', durationSeconds: isBySecond ? 30 : undefined };
  const asked = (choice: object): VendorValues => musicValuesOf({ ...usual, ...choice }, row);
  const taken = CHOICES.filter(
    ({ choice }) => untakenFields(vendor, asked(choice), terms).length === 0,
  );
  return {
    terms,
    asked: [asked({}), ...taken.map(({ choice }) => asked(choice))],
    listedIn: { seconds: 'price.unit' },
    listed: taken.map(({ field }) => field),
    needed: isBySecond ? ['seconds'] : [],
    priced: ['seconds'],
    pricedConstants: {},
  };
}

/** A body that sends a length is for models that are sold by the second. */
export function unitFaults(
  vendor: VendorFile,
  { asked, terms }: Selling,
  row: SoldMusic,
): string[] {
  const sends = asked.some((values) =>
    fieldsIn(submitOf(vendor, values, terms).body).includes('seconds'),
  );
  return sends && row.price.unit === 'request'
    ? [`price.unit: must be requested_second: the file of provider ${vendor.id} sends seconds`]
    : [];
}
