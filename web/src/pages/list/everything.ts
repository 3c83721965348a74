/** What a table that comes in pages says of itself. */
export interface Paged<D> {
  data: D | undefined;
  hasNextPage: boolean;
  isError: boolean;
  error: Error | null;
  fetchNextPage: () => Promise<Paged<D>>;
}

/**
 * Reads the pages that are not there yet, one after another, up to the first that is refused. Nothing comes of it where its reader has gone
 * on to something else meanwhile.
 */
export async function everything<D>(table: Paged<D>, wanted: () => boolean): Promise<Paged<D> | undefined> {
  let read = table;
  while (read.hasNextPage && wanted()) {
    read = await read.fetchNextPage();
    if (read.isError) break;
  }
  return wanted() ? read : undefined;
}
