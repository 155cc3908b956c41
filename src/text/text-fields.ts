import { Custom, Num } from '../common/validation/fields.js';

/** The largest output cap that a body may name; more than any model can make. */
export const MAX_OUTPUT_CAP = 100_000_000;

/** The name of a function that a model may call. */
export const FUNCTION_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
/** Whether a model calls functions, where no single one is named. */
export const TOOL_CHOICES: readonly unknown[] = ['none', 'auto', 'required'];
/** The kinds of text that a model can be told to give. */
export const TEXT_FORMATS: readonly unknown[] = ['text', 'json_object', 'json_schema'];

/** How closely an image is looked at. */
const IMAGE_DETAILS: readonly unknown[] = [undefined, null, 'auto', 'low', 'high', 'original'];
/** Anything else in the field of an image URL could carry text that is not paid for. */
const IMAGE_URL = /^(https?:\/\/|data:image\/)/i;
const WEB_URL = /^https?:/i;

/** What is wrong with an image of a request: its field, and what it must be. */
export function imageFault(
  url: unknown,
  detail: unknown,
): readonly ['url' | 'detail', string] | undefined {
  if (typeof url !== 'string' || !IMAGE_URL.test(url)) {
    return ['url', 'must be an http or https URL or a data URL of an image'];
  }
  if (IMAGE_DETAILS.includes(detail)) return undefined;
  return ['detail', 'must be auto, low, high or original'];
}

/** Whether an image is somewhere else, and not in the request itself. */
export const isOnTheWeb = (url: string): boolean => WEB_URL.test(url);

/** A short text of the caller's own, such as the name of a user: as the vendors take it. */
export const OWN_LABEL = { max: 512, blank: 'allowed', optional: true } as const;

/** How words are chosen, up to the most that the protocol of the face knows. */
export function Temperature({ max }: { readonly max: 1 | 2 }): PropertyDecorator {
  return Num({
    min: 0,
    max,
    optional: true,
    description: 'How freely words are chosen: 0 takes the likeliest, higher values vary more',
  });
}

/** Among how many words each is chosen. */
export function TopP(): PropertyDecorator {
  return Num({
    min: 0,
    max: 1,
    optional: true,
    description: 'Words are chosen only among the likeliest that together have this probability',
  });
}

/** Whether a word that was used is used again. */
export function PresencePenalty(): PropertyDecorator {
  return Num({
    min: -2,
    max: 2,
    optional: true,
    description: 'Above 0, words that have appeared at all become less likely',
  });
}

/** Whether a word that was used often is used again. */
export function FrequencyPenalty(): PropertyDecorator {
  return Num({
    min: -2,
    max: 2,
    optional: true,
    description: 'Above 0, words become less likely the more often they have appeared',
  });
}

/**
 * A field of the vendor's API that costs money or changes state elsewhere. Null is accepted, as SDKs send it, and what
 * `isNothing` says is as good as null. `why` is said after "is not offered here" (decision G-02).
 */
export function NotOffered(
  why = '',
  isNothing: (value: unknown) => boolean = () => false,
): PropertyDecorator {
  return Custom(isNothing, `is not offered here${why}: leave it out`, {
    optional: true,
    description: 'Not offered here: leave it out or send null',
    api: { type: Object, nullable: true, enum: [null] },
  });
}
