import type { UseQueryResult } from "@tanstack/react-query";

/** Where the answer to the words in the field is. While it is pending, what is shown is what earlier words have found, or nothing yet. */
export type Answer = "there" | "pending" | "failed";

/** Says so for the words in the field, those that were asked for last, and whether anything is shown that can be opened. */
export function answerOf(words: string, asked: string, { error, isPlaceholderData, isFetching }: Pick<UseQueryResult, "error" | "isPlaceholderData" | "isFetching">, shown: boolean): Answer {
  if (words.trim() !== asked) return "pending";
  if (asked === "") return "there";
  if (error) return "failed";
  return isPlaceholderData || (isFetching && !shown) ? "pending" : "there";
}
