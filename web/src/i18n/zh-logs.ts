import type { logs as english } from "./en-logs";

export const logs: Record<keyof typeof english, string> = {
  "logs.find": "查找",
  "logs.found": "第 {at} 处，共 {count} 处",
  "logs.download": "下载所示内容",
  "logs.all": "全部",
  "logs.merged": "所有 Pod，按时间合并，各取最后 {count} 行",
  "logs.waiting": "{count} 行新内容",
  "logs.toEnd": "到末尾",
  "logs.dropped": "更早的行已移出：页面保留 {count} 行。",
  "logs.ended": "日志已结束。",
  "logs.cut": "日志在结束前中断。",
  "logs.again": "重新读取",
  "logs.noSelector": "此 Service 不选择任何 Pod。",
  "logs.noPods": "此 Service 没有选中你能查看的 Pod。",
  "logs.leftOut": "另有 {count} 份日志未显示：可打开其中的 Pod 查看",
};
