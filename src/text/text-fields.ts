import { Custom, Num } from '../common/validation/fields.js';

/** The largest output cap that a body may name; more than any model can make. */
export const MAX_OUTPUT_CAP = 100_000_000;

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
