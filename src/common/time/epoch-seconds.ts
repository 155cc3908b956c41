/** 9999-12-31, the last day that timestamps of the API can express. */
export const MAX_EPOCH_SECONDS = 253_402_300_799;
