"""What the dashboards are built of: panels on a grid of 24 columns, variables, links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grafana_foundation_sdk.builders import common, dashboard, prometheus, stat, table, timeseries
from grafana_foundation_sdk.models.common import (
    BigValueColorMode,
    BigValueGraphMode,
    BigValueTextMode,
    LegendDisplayMode,
    LegendPlacement,
    TooltipDisplayMode,
)
from grafana_foundation_sdk.models.dashboard import (
    DashboardCursorSync,
    DashboardLinkType,
    DataSourceRef,
    DataTransformerConfig,
    GridPos,
    Threshold,
    ThresholdsMode,
    VariableRefresh,
    VariableSort,
)
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

_PROMETHEUS = DataSourceRef("prometheus", "$datasource")
_COLUMNS = 24
_HEIGHTS = {"stat": 4, "timeseries": 8, "table": 6}
#: A query and the legend of its series.
Asked = tuple[str, str]
Builder = Any  # of a panel; the builders of the SDK share no base class


class Board:
    """Places panels from left to right, row by row."""

    def __init__(
        self, uid: str, title: str, about: str, *, runbook: str, one_flow: bool = False
    ) -> None:
        self._x, self._y, self._row, self._id = 0, 0, 0, 0
        self._made = (
            dashboard.Dashboard(title)
            .uid(uid)
            .description(about)
            .tags(["heliograph", "kafka"])
            .timezone("browser")
            .time("now-1h", "now")
            .refresh("30s")
            .tooltip(DashboardCursorSync.CROSSHAIR)
            .editable()
        )
        for variable in _variables(one_flow=one_flow):
            self._made.with_variable(variable)
        others = dashboard.DashboardLink("Heliograph").type(DashboardLinkType.DASHBOARDS)
        self._made.link(others.tags(["heliograph"]).as_dropdown(True).include_vars(True))
        self._made.link(_link("Runbooks", f"$runbooks/{runbook}"))

    def row(self, title: str) -> None:
        self._next_row()
        row = dashboard.Row(title).grid_pos(GridPos(h=1, w=_COLUMNS, x=0, y=self._y))
        self._made.with_row(row)
        self._y += 1

    def stat(
        self, title: str, about: str, *asked: Asked, unit: str = "short", width: int = 4,
        bad_from: float | None = None, good: bool = False,
    ) -> None:  # fmt: skip
        """`bad_from`: red from this value on; `good`: red below 1."""
        panel = (
            stat.Panel()
            .graph_mode(BigValueGraphMode.NONE)
            .color_mode(BigValueColorMode.VALUE)
            .thresholds(_thresholds(bad_from, good=good))
        )
        if any(legend for _, legend in asked):  # the name is the answer, its value is 1
            panel.text_mode(BigValueTextMode.NAME)
        self._add(panel, "stat", title, about, asked, unit, width)

    def lines(
        self, title: str, about: str, *asked: Asked, unit: str = "short", width: int = 12,
        runbook: str = "",
    ) -> None:  # fmt: skip
        legend = common.VizLegendOptions().show_legend(True)
        panel = (
            timeseries.Panel()
            .legend(legend.display_mode(LegendDisplayMode.LIST).placement(LegendPlacement.BOTTOM))
            .tooltip(common.VizTooltipOptions().mode(TooltipDisplayMode.MULTI))
            .fill_opacity(10)
        )
        if runbook:
            panel.links([_link("What to do", f"$runbooks/{runbook}")])
        self._add(panel, "timeseries", title, about, asked, unit, width)

    def table(
        self, title: str, about: str, *asked: Asked, unit: str = "short", width: int = 12
    ) -> None:
        """One row of each label set; several queries are joined by their labels."""
        panel = table.Panel()
        if len(asked) > 1:
            panel.with_transformation(DataTransformerConfig(id_val="merge", options={}))
        panel.with_transformation(
            DataTransformerConfig(
                id_val="organize",
                options={
                    "excludeByName": {"Time": True},
                    "renameByName": {
                        f"Value #{_ref(i)}": legend for i, (_, legend) in enumerate(asked)
                    }
                    if len(asked) > 1
                    else {"Value": asked[0][1]},
                },
            )
        )
        self._add(panel, "table", title, about, asked, unit, width)

    def build(self) -> Any:
        return self._made.build()

    def _add(
        self, panel: Builder, kind: str, title: str, about: str, asked: Sequence[Asked], unit: str,
        width: int,
    ) -> None:  # fmt: skip
        height = _HEIGHTS[kind]
        if self._x + width > _COLUMNS:
            self._next_row()
        self._id += 1
        panel.id(self._id).title(title).description(about).unit(unit).datasource(_PROMETHEUS)
        panel.grid_pos(GridPos(h=height, w=width, x=self._x, y=self._y))
        for index, (expr, legend) in enumerate(asked):
            query = prometheus.Dataquery().expr(expr).legend_format(legend).ref_id(_ref(index))
            query.datasource(_PROMETHEUS)
            if kind == "timeseries":
                query.range()
            else:
                query.instant()
            if kind == "table":
                query.format(PromQueryFormat.TABLE)
            panel.with_target(query)
        self._made.with_panel(panel)
        self._x += width
        self._row = max(self._row, height)

    def _next_row(self) -> None:
        self._x, self._y, self._row = 0, self._y + self._row, 0


def _ref(index: int) -> str:
    return chr(ord("A") + index)


def _link(title: str, url: str) -> Any:
    return dashboard.DashboardLink(title).type(DashboardLinkType.LINK).url(url).target_blank(True)


def _thresholds(bad_from: float | None, *, good: bool) -> Any:
    steps = [Threshold(None, "green")]
    if good:
        steps = [Threshold(None, "red"), Threshold(1, "green")]
    elif bad_from is not None:
        steps.append(Threshold(bad_from, "red"))
    return dashboard.ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(steps)


def _variables(*, one_flow: bool) -> Sequence[Any]:
    """`flow` offers the flows from and to the chosen clusters."""

    def query(name: str, label: str, text: str, *, one: bool = False) -> Any:
        variable = dashboard.QueryVariable(name).label(label).datasource(_PROMETHEUS)
        variable.query({"query": text, "refId": name}).refresh(
            VariableRefresh.ON_TIME_RANGE_CHANGED
        )
        variable.sort(VariableSort.ALPHABETICAL_ASC)
        return variable if one else variable.multi(True).include_all(True).all_value(".+")

    names = "heliograph_flow_state"
    return (
        dashboard.DatasourceVariable("datasource").label("Data source").type("prometheus"),
        query(
            "cluster",
            "Cluster",
            "query_result("
            + " or ".join(
                f'label_replace(max by ({side}) ({names}), "alias", "$1", "{side}", "(.*)")'
                for side in ("source", "target")
            )
            + ")",
        ).regex('/alias="([^"]+)/'),
        query(
            "flow",
            "Flow",
            f'query_result({names}{{source=~"$cluster"}} or {names}{{target=~"$cluster"}})',
            one=one_flow,
        ).regex('/flow="([^"]+)/'),
        dashboard.TextBoxVariable("runbooks").label("Runbooks").default_value("docs/runbooks"),
    )
