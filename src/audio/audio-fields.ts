/** Largest `seed` (spec: speech, dialogue, voice changer). */
export const MAX_SEED = 4_294_967_295;
