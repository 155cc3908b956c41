/** Builds when a source is newer than the last build; answers the exit code of the build. */
export function buildWhenStale(): number;
