/** Logs. {name} is filled in. */
export const logs = {
  "logs.find": "Find",
  "logs.found": "{at} of {count}",
  "logs.download": "Download what is shown",
  "logs.all": "All",
  "logs.merged": "of all pods, merged by time, the last {count} {count|line|lines} of each",
  "logs.waiting": "{count} new",
  "logs.toEnd": "To the end",
  "logs.dropped": "Older lines have left: the page keeps {count}.",
  "logs.ended": "The log has ended.",
  "logs.cut": "The log was cut off before its end.",
  "logs.again": "Read it again",
  "logs.noSelector": "This Service selects no pods.",
  "logs.noPods": "This Service selects no pod that you may see.",
  "logs.leftOut": "{count} more logs are left out: open one of their pods",
} as const;
